#include "evaluation/task_set.h"

#include <gtest/gtest.h>

#include "evaluation/task_judge.h"
#include "evaluation/task_results.h"

namespace tandem {
namespace {

TaskRow row_of(const std::string& line) {
  const auto set = parse_task_set("dir/tools.jsonl", line);
  EXPECT_TRUE(set) << (set ? "" : set.error().message);
  return set ? set->rows[0] : TaskRow();
}

std::string refusal(const std::string& text) {
  const auto set = parse_task_set("dir/tools.jsonl", text);
  return set ? std::string() : set.error().message;
}

TEST(TaskSet, KeysSuggestTheKind) {
  EXPECT_EQ(row_of(R"({"user": "q", "expected": "a"})").kind, TaskKind::kExact);
  EXPECT_EQ(row_of(R"({"user": "q", "expected": {"a": 1}})").kind, TaskKind::kJson);
  EXPECT_EQ(row_of(R"({"user": "q", "tools": [], "expected": null})").kind, TaskKind::kToolCall);
  EXPECT_EQ(row_of(R"({"prompt": "q", "choices": ["a", "b"], "expected": 1})").kind,
            TaskKind::kChoice);
  EXPECT_EQ(row_of(R"({"kind": "json", "prompt": "q", "expected": "a"})").kind, TaskKind::kJson);
}

TEST(TaskSet, QuestionsBecomeMessages) {
  const TaskRow row = row_of(R"({"system": "s", "user": "질문", "expected": "a"})");
  EXPECT_EQ(row.messages.dump(),
            R"([{"role":"system","content":"s"},{"role":"user","content":"질문"}])");
  EXPECT_TRUE(row_of(R"({"prompt": "p", "expected": "a"})").messages.is_null());
}

TEST(TaskSet, AChoiceMayBeNamedByItsText) {
  EXPECT_EQ(row_of(R"({"prompt": "q", "choices": ["a", "b"], "expected": "b"})").expected, 1);
}

TEST(TaskSet, LimitsAndEmptyLines) {
  const std::string line = R"({"user": "q", "expected": "a"})";
  const auto set = parse_task_set("dir/tools.jsonl", line + "\r\n\n  \n" + line + "\n" + line, 2);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->name, "tools");
  ASSERT_EQ(set->rows.size(), 2u);
  EXPECT_EQ(set->rows[1].line, 4u);
  EXPECT_EQ(set->rows[0].hash, set->rows[1].hash);
}

TEST(TaskSet, ErrorsNameTheLine) {
  const std::string good = R"({"user": "q", "expected": "a"})";
  EXPECT_NE(refusal(good + "\n{").find("dir/tools.jsonl: line 2: not a JSON object"),
            std::string::npos);
  EXPECT_NE(refusal("\n").find("no rows"), std::string::npos);
  EXPECT_NE(refusal(R"({"user": "q"})").find("expected is missing"), std::string::npos);
  EXPECT_NE(refusal(R"({"expected": "a"})").find("one of user"), std::string::npos);
  EXPECT_NE(refusal(R"({"user": "q", "prompt": "p", "expected": "a"})").find("one of user"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"kind": "x", "user": "q", "expected": "a"})").find("kind must be"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"prompt": "q", "choices": ["a"], "expected": 0})").find("choices must"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"prompt": "q", "choices": ["a", "b"], "expected": 2})").find("index"),
            std::string::npos);
  EXPECT_NE(refusal("{\"user\": \"q\", \"expected\": " + std::string(100, '[') +
                    std::string(100, ']') + "}")
                .find("nested too deeply"),
            std::string::npos);
}

// The cases of models/demo/scoring_test.py: the same answers are right.
const char* const kCall =
    R"({"user": "q", "tools": [{"type": "function", "function": {"name": "set_timer",
       "parameters": {"type": "object", "properties": {"minutes": {"type": "integer"}}}}}],
       "expected": )";

bool judged(std::string line, const std::string& reply, ReplyEnd end = ReplyEnd::kStopped) {
  std::erase(line, '\n');
  return is_right(row_of(line), reply, *find_reply_format("hermes"), end);
}

TEST(TaskJudge, CallsCompareAsJson) {
  const std::string row =
      kCall + std::string(R"({"name": "set_timer", "arguments": {"minutes": 5}}})");
  const std::string reply =
      R"(<tool_call>{"arguments": {"minutes":5},  "name": "set_timer"}</tool_call>)";
  EXPECT_TRUE(judged(row, reply));
  EXPECT_FALSE(
      judged(row, R"(<tool_call>{"arguments": {"minutes":6}, "name": "set_timer"}</tool_call>)"));
  EXPECT_FALSE(judged(row, reply.substr(0, reply.size() - 20), ReplyEnd::kCutOff));
  EXPECT_FALSE(judged(row, "<tool_call>{broken</tool_call>"));
  EXPECT_FALSE(judged(row, "I set the timer."));
  EXPECT_FALSE(judged(row, reply + reply));
}

TEST(TaskJudge, ARefusalCallsNothing) {
  const std::string row = kCall + std::string("null}");
  EXPECT_TRUE(judged(row, "I cannot do that with the tools I have."));
  EXPECT_FALSE(judged(row, "<tool_call>{broken</tool_call>"));
  EXPECT_FALSE(judged(row, R"(<tool_call>{"name": "set_timer", "arguments": {}}</tool_call>)"));
}

TEST(TaskJudge, TextsAndValues) {
  EXPECT_TRUE(judged(R"({"user": "q", "expected": "하노이예요."})", "하노이예요.\n"));
  EXPECT_FALSE(judged(R"({"user": "q", "expected": "하노이예요."})", "하노이예요"));
  EXPECT_TRUE(
      judged(R"({"user": "q", "expected": {"state": "normal"}})", R"({ "state":"normal" })"));
  EXPECT_FALSE(judged(R"({"user": "q", "expected": {"state": "normal"}})", "normal"));
  EXPECT_TRUE(judged(R"({"user": "q", "expected": "4"})", "<think>2 + 2</think>4"));
}

TEST(TaskJudge, LikeliestIsTheFirstAmongEquals) { EXPECT_EQ(likeliest({-3, -1, -1}), 1u); }

std::vector<TaskAnswer> answers_of(std::initializer_list<bool> right) {
  std::vector<TaskAnswer> out;
  for (const bool r : right) out.push_back({.text = "x\xff", .is_right = r});
  return out;
}

TEST(TaskResults, StoredResultsPairRowByRow) {
  const std::string line = R"({"user": "q", "expected": "a"})";
  const auto set =
      *parse_task_set("dir/facts.jsonl", line + "\n" + line + "\n" + line + "\n" + line);
  const auto stored =
      StoredResults::parse("old", to_stored_lines(set, answers_of({true, true, false, true})));
  ASSERT_TRUE(stored) << stored.error().message;
  const auto other = stored->of(set);
  ASSERT_TRUE(other);
  const TaskFigures figures = summarize(set, answers_of({false, false, true, true}), *other);
  EXPECT_EQ(figures.n_right, 2u);
  EXPECT_EQ(figures.accuracy, 0.5);
  EXPECT_EQ(figures.paired->only_this, 1u);
  EXPECT_EQ(figures.paired->only_other, 2u);
  EXPECT_EQ(figures.paired->difference, -0.25);
  EXPECT_EQ(figures.paired->p_value, 1);
}

TEST(TaskResults, AnotherQuestionIsNoticed) {
  const auto set = *parse_task_set("facts.jsonl", R"({"user": "q", "expected": "a"})");
  const auto changed = *parse_task_set("facts.jsonl", R"({"user": "q", "expected": "b"})");
  const auto more =
      *parse_task_set("facts.jsonl", "\n" + std::string(R"({"user": "q", "expected": "a"})"));
  const auto stored = *StoredResults::parse("old", to_stored_lines(set, answers_of({true})));
  EXPECT_NE(stored.of(changed).error().message.find("line 1"), std::string::npos);
  EXPECT_NE(stored.of(more).error().message.find("no result for line 2"), std::string::npos);
  EXPECT_FALSE(StoredResults::parse("old", "{}"));
  EXPECT_FALSE(StoredResults::parse("old", "x"));
}

}  // namespace
}  // namespace tandem
