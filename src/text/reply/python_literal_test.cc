#include "text/reply/python_literal.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

std::string value(std::string_view text) {
  std::string out;
  return append_python_value(out, text) ? out : "none" + out;
}

std::string arguments(std::string_view text) {
  std::string out;
  return append_python_arguments(out, text) ? out : "none" + out;
}

// Expected: python3 -c 'import json,ast,sys; print(json.dumps(ast.literal_eval(sys.argv[1]),
// ensure_ascii=False))' TEXT, except for JSON's own words, which Python does not have.
TEST(PythonLiteral, ValuesBecomeJson) {
  EXPECT_EQ(value("'서울'"), R"("서울")");
  EXPECT_EQ(value(R"("it's")"), R"("it's")");
  EXPECT_EQ(value(R"('a "b"')"), R"("a \"b\"")");
  EXPECT_EQ(value(R"('a\'b\n\\')"), R"("a'b\n\\")");
  EXPECT_EQ(value(R"('\xe9\uc11c\U0001f99c')"), R"("é서🦜")");
  EXPECT_EQ(value(R"('\d')"), R"("\\d")");
  EXPECT_EQ(value(R"(r'\d')"), R"("\\d")");
  EXPECT_EQ(value("'''a\n'b' '''"), R"("a\n'b' ")");
  EXPECT_EQ(value("'a' \"b\""), R"("ab")");
  EXPECT_EQ(value("''"), R"("")");
  EXPECT_EQ(value("-12"), "-12");
  EXPECT_EQ(value("1_000"), "1000");
  EXPECT_EQ(value("2.5"), "2.5");
  EXPECT_EQ(value("1."), "1.0");
  EXPECT_EQ(value("-.5e3"), "-0.5e3");
  EXPECT_EQ(value("+7"), "7");
  EXPECT_EQ(value("True"), "true");
  EXPECT_EQ(value("None"), "null");
  EXPECT_EQ(value("null"), "null");
  EXPECT_EQ(value("[1, 'a', [True], ]"), R"([1, "a", [true]])");
  EXPECT_EQ(value("(1, 2)"), "[1, 2]");
  EXPECT_EQ(value("{'a': {'b': [None]}, 1: 2}"), R"({"a": {"b": [null]}, "1": 2})");
  EXPECT_EQ(value("{}"), "{}");
}

TEST(PythonLiteral, WhatIsNoLiteralIsRefusedAndLeavesNothing) {
  for (const char* text : {"", "abc", "f(1)", "1 + 2", "'a", "[1", "{'a'}", "{'a': }", "0x10",
                           "--1", "'a' b", "[1 2]", "lambda: 0", "{[1]: 2}", "nan", "e5"}) {
    EXPECT_EQ(value(text), "none") << text;
  }
  EXPECT_EQ(value(std::string(100000, '[')), "none");
  EXPECT_EQ(value(std::string(70, '[') + std::string(70, ']')), "none");
}

TEST(PythonLiteral, KeywordArguments) {
  EXPECT_EQ(arguments(""), "{}");
  EXPECT_EQ(arguments(" a = 1, 도시='서울' "), R"({"a": 1, "도시": "서울"})");
  EXPECT_EQ(arguments("a=[1,2], b={'c': 'd'},"), R"({"a": [1, 2], "b": {"c": "d"}})");
  EXPECT_EQ(arguments("'positional'"), "none");
  EXPECT_EQ(arguments("a=1 b=2"), "none");
  EXPECT_EQ(arguments("a=other"), "none");
  EXPECT_EQ(arguments("a="), "none");
}

TEST(PythonLiteral, NamesMayHaveDots) {
  EXPECT_EQ(python_name_length("brave_search.call(x)"), 17u);
  EXPECT_EQ(python_name_length("날씨(x)"), 6u);
  EXPECT_EQ(python_name_length("1a"), 0u);
  EXPECT_EQ(python_name_length("(x)"), 0u);
}

size_t closing(std::string_view text) {
  PythonScanner scanner;
  for (size_t i = 0; i < text.size(); ++i) {
    if (scanner.feed(text[i])) return i;
  }
  return text.size();
}

TEST(PythonScanner, FindsTheClosingBracket) {
  EXPECT_EQ(closing("a=1)"), 3u);
  EXPECT_EQ(closing("a=(1, [2]))"), 10u);
  EXPECT_EQ(closing("a=')')"), 5u);
  EXPECT_EQ(closing(R"(a='\')')"), 7u);
  EXPECT_EQ(closing(R"(a="\\"))"), 6u);
  EXPECT_EQ(closing("a='')"), 4u);
  EXPECT_EQ(closing("a=''')' '')''')"), 14u);
  EXPECT_EQ(closing("a='"), 3u);
}

}  // namespace
}  // namespace tandem
