// The loop from a prompt to a reply, with the bundled model.

#include "engine/generation.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "engine/conversation.h"
#include "engine/script_constraint.h"
#include "tests/support/tiny_model.h"
#include "text/unicode/utf8.h"

namespace tandem::testing {
namespace {

class DemoModel : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto model = Model::load(TANDEM_SOURCE_DIR "/models/demo/demo-f16.gguf");
    ASSERT_TRUE(model) << model.error().message;
    engine_ = make_engine(*model, {.n_threads = 2});
  }
  static void TearDownTestSuite() { engine_.reset(); }

  static Sampler make_sampler(const SamplingOptions& options) {
    return *Sampler::create(options, static_cast<int32_t>(engine_->vocabulary()),
                            static_cast<int32_t>(engine_->context()));
  }

  static GenerationResult ask(const std::string& text, const SamplingOptions& sampling,
                              const GenerationOptions& options = {.max_tokens = 60}) {
    auto conversation = Conversation::create(engine_, {});
    EXPECT_TRUE(conversation) << conversation.error().message;
    Sampler sampler = make_sampler(sampling);
    auto result = conversation->ask(text, sampler, options);
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }

  static inline std::shared_ptr<Engine> engine_;
};

const SamplingOptions kGreedy{.temperature = 0};

// Expected texts: the rows of models/demo/eval_facts.jsonl.
TEST_F(DemoModel, AnswersInEnglishAndKorean) {
  EXPECT_EQ(ask("What is the opposite of small?", kGreedy).text, "big.");
  EXPECT_EQ(ask("너는 누구야?", kGreedy).text, "저는 이 기기에서 도는 작은 모델, 탠덤이에요.");
}

TEST_F(DemoModel, FieldReport_D01_TemperatureZeroIgnoresSeedsAndNeighbours) {
  std::set<std::string> texts;
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    while (!stop) ask("생년월일이 뭐야?", {.temperature = 0.9f, .seed = 3}, {.max_tokens = 5});
  });
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    texts.insert(ask("define: tree", {.temperature = 0, .seed = seed}, {.max_tokens = 12}).text);
  }
  EXPECT_EQ(texts.size(), 1u);
  texts.clear();
  for (int i = 0; i < 20; ++i) {
    texts.insert(ask("define: tree", {.temperature = 0.9f, .seed = 5}, {.max_tokens = 12}).text);
  }
  EXPECT_EQ(texts.size(), 1u);
  stop = true;
  neighbour.join();
}

TEST_F(DemoModel, LimitsAndStopTextsEndAReply) {
  const auto cut = ask("너는 누구야?", kGreedy, {.max_tokens = 3});
  EXPECT_EQ(cut.finish_reason, FinishReason::kLength);
  EXPECT_EQ(cut.tokens.size(), 3u);
  const auto stopped = ask("너는 누구야?", kGreedy, {.max_tokens = 60, .stop = {"작은 모델"}});
  EXPECT_EQ(stopped.finish_reason, FinishReason::kStop);
  EXPECT_EQ(stopped.text, "저는 이 기기에서 도는 ");
  EXPECT_TRUE(ask("너는 누구야?", kGreedy, {.max_tokens = 0}).text.empty());
}

TEST_F(DemoModel, FullContextEndsWithLengthUnlessAShiftIsAskedFor) {
  const auto small =
      make_engine(engine_->model().shared_from_this(), {.context = 32, .n_threads = 1});
  Sampler sampler = make_sampler(kGreedy);
  const auto session = std::move(*Session::create(small));
  const auto prompt = *small->model().tokenizer()->encode("define: tree and river");
  GenerationOptions options{.max_tokens = 60, .ignore_end = true};
  const auto full = generate(*session, sampler, prompt, options);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->finish_reason, FinishReason::kLength);
  EXPECT_EQ(session->n_tokens(), 32u);

  const auto shifting = std::move(*Session::create(small));
  options.shift_context = true;
  const auto long_reply = generate(*shifting, sampler, prompt, options);
  ASSERT_TRUE(long_reply) << long_reply.error().message;
  EXPECT_EQ(long_reply->tokens.size(), 60u);
}

// Field report E03: prompts of one token less than the context, as many, and more.
TEST_F(DemoModel, E03ARawPromptGetsAsManyTokensAsTheContextHasRoomFor) {
  const auto small =
      make_engine(engine_->model().shared_from_this(), {.context = 64, .n_threads = 1});
  const GenerationOptions options{.max_tokens = 8, .ignore_end = true};
  for (const size_t n_prompt : {60, 63, 64}) {
    const auto session = std::move(*Session::create(small));
    Sampler sampler = make_sampler(kGreedy);
    const auto reply = generate(*session, sampler, std::vector<TokenId>(n_prompt, 5), options);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->tokens.size(), 64 - n_prompt);
    EXPECT_EQ(reply->finish_reason, FinishReason::kLength);
  }
  const auto session = std::move(*Session::create(small));
  Sampler sampler = make_sampler(kGreedy);
  const auto refused = generate(*session, sampler, std::vector<TokenId>(100, 5), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kContextFull);
  EXPECT_NE(refused.error().message.find("100"), std::string::npos);
  EXPECT_NE(refused.error().message.find("64"), std::string::npos);
}

TEST_F(DemoModel, ObservedTextsJoinToTheReplyWhenItsEndWasHeldBack) {
  auto conversation = *Conversation::create(engine_, {});
  Sampler sampler = make_sampler(kGreedy);
  std::string seen, held;
  GenerationObserver observer;
  observer.on_token = [&](const SampledToken&, std::string_view text) { seen += text; };
  observer.on_held_text = [&](std::string_view text) { held += text; };
  const auto reply = conversation.ask("What is the opposite of small?", sampler,
                                      {.max_tokens = 60, .stop = {". And"}}, observer);
  ASSERT_TRUE(reply);
  EXPECT_EQ(held, ".") << "the beginning of the stop text";
  EXPECT_EQ(seen + held, reply->text);
  EXPECT_EQ(reply->message.content, "big.");
}

TEST_F(DemoModel, ACancelAfterTheLastTokenDoesNotStopTheNextReply) {
  auto conversation = *Conversation::create(engine_, {});
  Sampler sampler = make_sampler(kGreedy);
  GenerationObserver observer;
  observer.on_token = [&](const SampledToken& token, std::string_view) {
    const bool ends = engine_->model().tokenizer()->is_end_of_generation(token.id);
    if (ends) conversation.session().cancel();
  };
  ASSERT_TRUE(conversation.ask("What is the opposite of small?", sampler, {}, observer));
  const auto next = conversation.ask("What is the opposite of new?", sampler, {});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->finish_reason, FinishReason::kStop);
}

// Field report J04, with the bundled model.
TEST_F(DemoModel, J04AReplyKeepsToItsScripts) {
  const std::vector<std::string> latin = {"Latin"};
  Sampler sampler = make_sampler(kGreedy);
  sampler.set_constraint(*ScriptConstraint::create(*engine_->model().tokenizer(), latin));
  for (int i = 0; i < 2; ++i) {
    auto conversation = *Conversation::create(engine_, {});
    const auto reply = conversation.ask("너는 누구야?", sampler, {.max_tokens = 60});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_FALSE(reply->text.empty());
    const CharSet hangul(script_ranges("Hangul"));
    for (size_t at = 0; at < reply->text.size();) {
      const DecodedChar next = decode_utf8(reply->text, at);
      EXPECT_FALSE(hangul.contains(next.code_point)) << reply->text;
      at += next.length;
    }
  }
}

TEST_F(DemoModel, CancelFromACallbackKeepsWhatWasGenerated) {
  auto conversation = *Conversation::create(engine_, {});
  Sampler sampler = make_sampler(kGreedy);
  size_t n_seen = 0;
  GenerationObserver observer;
  observer.on_token = [&](const SampledToken&, std::string_view) {
    if (++n_seen == 4) conversation.session().cancel();
  };
  const auto result = conversation.ask("너는 누구야?", sampler, {}, observer);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(result->tokens.size(), 4u);
  EXPECT_EQ(conversation.messages().size(), 2u);
}

TEST_F(DemoModel, ConversationReusesItsPrefixAndEqualsAFreshOne) {
  auto conversation = *Conversation::create(engine_, {});
  Sampler sampler = make_sampler(kGreedy);
  ASSERT_TRUE(conversation.ask("What is the opposite of small?", sampler, {}));
  const auto second = conversation.ask("What is the opposite of new?", sampler, {});
  ASSERT_TRUE(second);
  const auto whole_prompt = [&] {
    auto fresh = *Conversation::create(engine_, {});
    EXPECT_TRUE(fresh.ask("What is the opposite of small?", sampler, {}));
    return conversation.session().tokens().size();
  }();
  EXPECT_LT(second->n_prompt, whole_prompt) << "the first turn must come from the cache";

  const auto tokens = conversation.session().tokens();
  const auto session = std::move(*Session::create(engine_));
  ASSERT_TRUE(session->append(tokens));
  ASSERT_TRUE(conversation.undo());
  EXPECT_EQ(conversation.messages().size(), 2u);
}

TEST_F(DemoModel, EmptyPromptIsAnError) {
  const auto session = std::move(*Session::create(engine_));
  Sampler sampler = make_sampler(kGreedy);
  const auto result = generate(*session, sampler, {}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem::testing
