#include "text/tokenizer/added_tokens.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

/// The parts, tokens in brackets.
std::string shown(const AddedTokens& tokens, std::string_view text, bool control = true) {
  std::string out;
  for (const AddedTokens::Part& part : tokens.split(text, false, control)) {
    const std::string own(text.substr(part.begin, part.end - part.begin));
    out += part.token ? "[" + own + "]" : own;
  }
  return out;
}

TEST(AddedTokens, FindsTheLeftmostAndThereTheLongest) {
  const AddedTokens tokens(
      {{.text = "<a", .id = 1}, {.text = "<ab>", .id = 2}, {.text = "b>c", .id = 3}});
  EXPECT_EQ(shown(tokens, "x<ab>c"), "x[<ab>]c");
  EXPECT_EQ(shown(tokens, "<ab"), "[<a]b");
  EXPECT_EQ(shown(tokens, "b>cb>c"), "[b>c][b>c]");
  EXPECT_EQ(shown(tokens, ""), "");
  EXPECT_EQ(tokens.find("<ab>"), 2);
  EXPECT_FALSE(tokens.find("<ab"));
}

TEST(AddedTokens, LeavesControlTokensAloneUnlessAsked) {
  const AddedTokens tokens({{.text = "<c>", .id = 1, .control = true}, {.text = "<u>", .id = 2}});
  EXPECT_EQ(shown(tokens, "<c><u>", false), "<c>[<u>]");
  EXPECT_EQ(shown(tokens, "<c><u>", true), "[<c>][<u>]");
}

TEST(AddedTokens, StripsWhiteSpaceOnTheSidesThatSaySo) {
  const AddedTokens tokens({{.text = "<l>", .id = 1, .strip_left = true},
                            {.text = "<r>", .id = 2, .strip_right = true}});
  EXPECT_EQ(shown(tokens, "a \u3000<l> b"), "a[ \u3000<l>] b");
  EXPECT_EQ(shown(tokens, "a <r>\n b"), "a [<r>\n ]b");
  EXPECT_EQ(shown(tokens, "<r> <l>"), "[<r> ][<l>]") << "what is taken stays taken";
}

TEST(AddedTokens, SingleWordsNeedABoundary) {
  const AddedTokens tokens({{.text = "cat", .id = 1, .single_word = true}});
  EXPECT_EQ(shown(tokens, "cat concat cats 고cat (cat)"), "[cat] concat cats 고cat ([cat])");
}

}  // namespace
}  // namespace tandem
