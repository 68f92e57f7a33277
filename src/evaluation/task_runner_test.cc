#include "evaluation/task_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/session.h"
#include "evaluation/evaluation.h"
#include "evaluation/evaluation_json.h"

namespace tandem {
namespace {

const std::string kDemo = std::string(TANDEM_SOURCE_DIR) + "/models/demo/";

const std::shared_ptr<const Model>& demo_model() {
  static const auto model = *Model::load(kDemo + "demo-f16.gguf");
  return model;
}

std::shared_ptr<Engine> demo_engine(uint32_t max_sequences) {
  return *Engine::create(demo_model(), {.context = 1024, .max_sequences = max_sequences});
}

std::vector<TaskAnswer> answers(const TaskSet& set, uint32_t max_sequences,
                                const TaskOptions& options = {}) {
  const auto out = run_tasks(set, demo_engine(max_sequences), options);
  EXPECT_TRUE(out) << (out ? "" : out.error().message);
  return out.value_or(std::vector<TaskAnswer>());
}

size_t n_right(const std::vector<TaskAnswer>& answers) {
  return std::count_if(answers.begin(), answers.end(), [](auto& a) { return a.is_right; });
}

TEST(TaskRunner, AnswersDoNotDependOnTheBatch) {
  for (const char* name : {"eval_facts.jsonl", "eval_tools.jsonl"}) {
    const auto set = *load_task_set(kDemo + name, 9);
    const auto together = answers(set, 4), alone = answers(set, 1);
    ASSERT_EQ(together.size(), 9u);
    for (size_t i = 0; i < together.size(); ++i) {
      EXPECT_EQ(together[i].text, alone[i].text) << set.rows[i].line;
      EXPECT_EQ(together[i].is_right, alone[i].is_right);
    }
    EXPECT_GE(n_right(together), 8u) << name;  // models/demo/evaluate --limit 9
  }
}

TEST(TaskRunner, StopsAtTheLimitOfTokens) {
  const auto set = *load_task_set(kDemo + "eval_diagnosis.jsonl", 2);
  for (const TaskAnswer& answer : answers(set, 4, {.max_tokens = 3})) {
    EXPECT_TRUE(answer.is_cut);
    EXPECT_FALSE(answer.is_right);
  }
}

TEST(TaskRunner, ChoosesTheLikeliest) {
  const auto set = *parse_task_set(
      "choices.jsonl",
      R"({"user": "What is the opposite of small?", "choices": ["red.", "big.", "Paris."], "expected": "big."}
{"user": "베트남의 수도는 어디야?", "choices": ["하노이예요.", "리마예요."], "expected": 0}
{"prompt": "precocious: characterized by", "choices": [" or characteristic of", "xqz"], "expected": 0})");
  const auto out = answers(set, 4);
  EXPECT_EQ(n_right(out), 3u);
  ASSERT_EQ(out[0].log_likelihoods.size(), 3u);
  // Of the row with a prompt of its own, by hand: the sum over the tokens behind the prompt.
  const Tokenizer& tokenizer = *demo_model()->tokenizer();
  const auto prompt = *tokenizer.encode("precocious: characterized by");
  const auto whole = *tokenizer.encode("precocious: characterized by or characteristic of");
  double expected = 0;
  const auto session = *Session::create(demo_engine(1));
  ASSERT_TRUE(session->append_visiting_logits(
      whole, [&](size_t i, std::span<const float> logits) -> Result<void> {
        if (i + 1 < prompt.size() || i + 1 == whole.size()) return {};
        double sum = 0;
        for (const float v : logits) sum += std::exp(static_cast<double>(v));
        expected += logits[whole[i + 1]] - std::log(sum);
        return {};
      }));
  EXPECT_NEAR(out[2].log_likelihoods[0], expected, 1e-6);
}

TEST(TaskRunner, PerByteScoresDoNotFavourShortChoices) {
  const auto set = *parse_task_set(
      "c.jsonl",
      R"({"prompt": "precocious: characterized by", "choices": [" or", " or characteristic of"], "expected": 0})");
  const auto whole = answers(set, 1)[0], per_byte = answers(set, 1, {.choice_per_byte = true})[0];
  EXPECT_EQ(whole.log_likelihoods, per_byte.log_likelihoods);
  EXPECT_EQ(whole.text, " or");
  EXPECT_EQ(per_byte.text, " or characteristic of");
}

TEST(TaskRunner, APromptThatDoesNotFitNamesItsLine) {
  const auto set = *parse_task_set(
      "long.jsonl", "\n{\"user\": \"" + std::string(3000, 'x') + " y z\", \"expected\": \"a\"}");
  const auto engine = *Engine::create(demo_model(), {.context = 64});
  const auto out = run_tasks(set, engine);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, ErrorCode::kContextFull);
  EXPECT_TRUE(out.error().message.starts_with("long.jsonl: line 2: ")) << out.error().message;
}

TEST(Evaluation, ReportHasTextAndTasks) {
  const auto engine = *Engine::create(
      demo_model(), {.context = 1024, .max_outputs = wanted_outputs(*demo_model())});
  const EvaluationRequest request{
      .text = kDemo + "heldout.txt",
      .windows = {.mode = WindowMode::kChunked, .window = 128, .max_windows = 4},
      .text_options = {.documents = true, .parse_special = true},
      .tasks = {{kDemo + "eval_facts.jsonl", 4}}};
  const auto report = evaluate(engine, nullptr, request);
  ASSERT_TRUE(report) << report.error().message;
  const auto document = evaluation_document(*report);
  EXPECT_EQ(document["schema"], "tandem.eval.v1");
  EXPECT_EQ(document["text"]["scored"], 4 * 127);
  EXPECT_EQ(document["text"]["documents"], 620);
  const double perplexity = document["text"]["perplexity"]["value"];
  EXPECT_GT(perplexity, document["text"]["perplexity"]["low"].get<double>());
  EXPECT_LT(perplexity, document["text"]["perplexity"]["high"].get<double>());
  EXPECT_EQ(document["tasks"][0]["n"], 4);
  EXPECT_NEAR(document["model"]["bits_per_weight"].get<double>(), 16, 0.05);
  EXPECT_TRUE(document["failure"].is_null());
}

}  // namespace
}  // namespace tandem
