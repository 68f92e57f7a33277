#include "text/reply/json_scanner.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem {
namespace {

// An independent parser decides what is JSON.
TEST(JsonScanner, AgreesWithAReferenceParser) {
  for (const char* text :
       {"{}", "[]", "0", "-0", "-1.5e+10", "1E5", "true", "false", "null", "\"\"",
        "\"a\\u00e9\\n\"", "{\"a\": [1, {\"b\": null}], \"c\": \"}\"}", " [ 1 , 2 ] ", "\"서울\"",
        // and what is not
        "", " ", "{", "[1", "01", "1.", ".5", "+1", "-", "1e", "1e+", "tru", "nul", "truex", "\"",
        "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "{a: 1}", "{'a': 1}", "{\"a\" 1}", "{\"a\": 1,}",
        "[1,]", "[,1]", "[1 2]", "{} {}", "1 2", "]", "{]", "[}", "{\"a\":}", "NaN", "[1]]"}) {
    EXPECT_EQ(is_json(text), nlohmann::json::accept(text)) << text;
  }
}

TEST(JsonScanner, SaysWhereAValueEnds) {
  using Step = JsonScanner::Step;
  JsonScanner object;
  for (const char c : std::string("{\"a\": \"}\"")) EXPECT_EQ(object.feed(c), Step::kMore);
  EXPECT_EQ(object.feed('}'), Step::kEnd);
  JsonScanner number;
  EXPECT_EQ(number.feed('1'), Step::kMore);
  EXPECT_EQ(number.feed('2'), Step::kMore);
  EXPECT_EQ(number.feed(','), Step::kEndBefore);
}

TEST(JsonScanner, DepthIsBounded) {
  const size_t n = JsonScanner::kMaxDepth;
  EXPECT_TRUE(is_json(std::string(n, '[') + std::string(n, ']')));
  EXPECT_FALSE(is_json(std::string(n + 1, '[') + std::string(n + 1, ']')));
  EXPECT_FALSE(is_json(std::string(1000000, '[')));
}

TEST(JsonStrings, EscapeAndDecodeAreInverse) {
  for (const std::string text : {"", "plain", "a\"b\\c/d", "line\nline\t\r\b\f", "부산 🦜",
                                 "\x01\x1f", "</tool_call>"}) {
    std::string quoted;
    append_json_string(quoted, text);
    EXPECT_TRUE(is_json(quoted)) << quoted;
    EXPECT_EQ(decode_json_string(quoted), text);
    EXPECT_EQ(nlohmann::json::parse(quoted).get<std::string>(), text);
  }
}

TEST(JsonStrings, UnicodeEscapes) {
  EXPECT_EQ(decode_json_string(R"("\uc11c\uc6b8 \u00e9 \/")"), "서울 é /");
  EXPECT_EQ(decode_json_string(R"("\ud83e\udd9c")"), "🦜");
  EXPECT_EQ(decode_json_string(R"("\ud83e!")"), "\xef\xbf\xbd!");
  EXPECT_EQ(decode_json_string(R"("\ud83e\u0041")"),
            "\xef\xbf\xbd"
            "A");
  EXPECT_EQ(decode_json_string(R"("\udd9c")"), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace tandem
