#include "text/chat_template/text_form.h"

#include <gtest/gtest.h>

#include "text/chat_template/format_spec.h"
#include "text/chat_template/literals.h"
#include "text/chat_template/rounding.h"

// Expected values: repr, format, round, int and float of Python 3.11.2.

namespace tandem::jinja {
namespace {

TEST(Floats, PrintAsPythonsRepr) {
  EXPECT_EQ(float_text(1), "1.0");
  EXPECT_EQ(float_text(0.1), "0.1");
  EXPECT_EQ(float_text(-0.0), "-0.0");
  EXPECT_EQ(float_text(1e15), "1000000000000000.0");
  EXPECT_EQ(float_text(1e16), "1e+16");
  EXPECT_EQ(float_text(1.5e-4), "0.00015");
  EXPECT_EQ(float_text(1.5e-5), "1.5e-05");
  EXPECT_EQ(float_text(5e-324), "5e-324");
  EXPECT_EQ(float_text(1.7976931348623157e308), "1.7976931348623157e+308");
}

TEST(Integers, PrintUpTo128Bits) {
  EXPECT_EQ(int_text(0), "0");
  EXPECT_EQ(int_text(Int{-42}), "-42");
  EXPECT_EQ(int_text(Int{1} << 100), "1267650600228229401496703205376");
}

TEST(Rounding, GoesToEvenOnExactHalves) {
  EXPECT_EQ(rounded(Value::real(2.5), 0)->as_double(), 2.0);
  EXPECT_EQ(rounded(Value::real(2.675), 2)->as_double(), 2.67);
  EXPECT_EQ(rounded(Value::real(1250), -2)->as_double(), 1200.0);
  EXPECT_TRUE(rounded(Value::integer(1250), -2)->as_int() == 1200);
  EXPECT_TRUE(rounded(Value::integer(1350), -2)->as_int() == 1400);
}

TEST(Numbers, ParseAsPythonDoes) {
  EXPECT_TRUE(parse_int(" 1_000 ", 10) == Int{1000});
  EXPECT_TRUE(parse_int("-0x1f", 16) == Int{-31});
  EXPECT_TRUE(parse_int("٣", 10) == Int{3});
  EXPECT_FALSE(parse_int("1__0", 10));
  EXPECT_FALSE(parse_int("012", 0));
  EXPECT_FALSE(parse_int("", 10));
  EXPECT_EQ(parse_float("1e400"), HUGE_VAL);
  EXPECT_EQ(parse_float("-1E-400"), -0.0);
  EXPECT_EQ(parse_float(" .5 "), 0.5);
  EXPECT_FALSE(parse_float("1.5x"));
  EXPECT_FALSE(parse_float("."));
}

TEST(Escapes, ResolveAsInPythonStrings) {
  EXPECT_EQ(unescaped(R"(a\n\t\\\'\x41\u00e9\101\q)").value(), "a\n\t\\'A\u00e9A\\q");
  EXPECT_EQ(unescaped(R"(\U0001f642)").value(), "🙂");
  EXPECT_FALSE(unescaped(R"(\ud83d)"));
  EXPECT_FALSE(unescaped(R"(\x4)"));
}

std::string formatted(const Value& value, std::string_view spec) {
  Heap heap{{}};
  const auto parsed = FormatSpec::parse(spec);
  if (!parsed) return parsed.error().message;
  return format_value(heap, value, *parsed).value_or("error");
}

TEST(FormatSpec, LaysNumbersOut) {
  EXPECT_EQ(formatted(Value::real(3.14159), "8.2f"), "    3.14");
  EXPECT_EQ(formatted(Value::real(-3.5), "+08.1f"), "-00003.5");
  EXPECT_EQ(formatted(Value::real(1234567.5), ",.1f"), "1,234,567.5");
  EXPECT_EQ(formatted(Value::real(0.25), ".0%"), "25%");
  EXPECT_EQ(formatted(Value::real(1e10), "g"), "1e+10");
  EXPECT_EQ(formatted(Value::integer(255), "#x"), "0xff");
  EXPECT_EQ(formatted(Value::integer(255), "*^9_b"), "1111_1111");
  EXPECT_EQ(formatted(Value::integer(7), "한>3"), "한한7");
  EXPECT_EQ(formatted(Value::integer(7), ".2d"), "error");
}

TEST(Repr, QuotesAndEscapesText) {
  Heap heap{{}};
  const Value text = heap.string("it's \"q\"\n\u200b한");
  EXPECT_EQ(to_repr(text, heap), "'it\\'s \"q\"\\n\\u200b한'");
  EXPECT_EQ(to_repr(heap.string("it's"), heap), "\"it's\"");
  EXPECT_EQ(to_repr(heap.tuple({Value::integer(1)}), heap), "(1,)");
}

}  // namespace
}  // namespace tandem::jinja
