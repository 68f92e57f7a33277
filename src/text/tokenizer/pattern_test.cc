#include "text/tokenizer/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem {
namespace {

Pattern compiled(std::string_view source) {
  auto pattern = Pattern::compile(source);
  if (!pattern) {
    ADD_FAILURE() << pattern.error().message;
    return *Pattern::compile("");
  }
  return std::move(*pattern);
}

/// All matches, as "[...]" among the text between them.
std::string marked(std::string_view source, std::string_view text) {
  const Pattern pattern = compiled(source);
  Pattern::Scratch scratch(text.size());
  std::string out;
  size_t done = 0;
  while (const auto match = pattern.find(text, done, scratch)) {
    out += text.substr(done, match->begin - done);
    out += "[" + std::string(text.substr(match->begin, match->end - match->begin)) + "]";
    if (match->end == done && match->end == match->begin) break;
    done = match->end;
  }
  return out + std::string(text.substr(done));
}

// Expected values: python3 -c "import regex; print(regex.sub(P, r'[\g<0>]', T))".
TEST(Pattern, Quantifiers) {
  EXPECT_EQ(marked("a?b", "b ab aab"), "[b] [ab] a[ab]");
  EXPECT_EQ(marked("a+", "aa b a"), "[aa] b [a]");
  EXPECT_EQ(marked("a{2,3}", "aaaaaaa"), "[aaa][aaa]a");
  EXPECT_EQ(marked("a{2}", "aaaaa"), "[aa][aa]a");
  EXPECT_EQ(marked("a{2,}b", "aaab ab"), "[aaab] ab");
  EXPECT_EQ(marked("x.+?y", "xayby"), "[xay]by");
  EXPECT_EQ(marked("a{x", "a{x"), "[a{x]") << "not a count, so literal";
}

TEST(Pattern, GivesCharactersBackOnlyWhenGreedy) {
  EXPECT_EQ(marked("\\p{L}+가", "나다가라"), "[나다가]라") << "steps back by characters";
  EXPECT_EQ(marked("a+ab", "aaab"), "[aaab]");
  EXPECT_EQ(marked("a++ab", "aaab"), "aaab") << "possessive";
}

TEST(Pattern, AlternativesAreTriedInOrder) {
  EXPECT_EQ(marked("a|ab", "ab"), "[a]b");
  EXPECT_EQ(marked("(?:a|ab)c", "abc"), "[abc]");
  EXPECT_EQ(marked("(?:ab|cd)+", "abcdx"), "[abcd]x");
  EXPECT_EQ(marked("(IMG)((A|B){1,4})Z", "IMGABABZ"), "[IMGABABZ]");
}

TEST(Pattern, LooksAround) {
  EXPECT_EQ(marked("\\s+(?!\\S)", "a   b "), "a[  ] b[ ]");
  EXPECT_EQ(marked("a(?=b)", "ab ac"), "[a]b ac");
  EXPECT_EQ(marked("(?<=x)a", "xa a"), "x[a] a");
  EXPECT_EQ(marked("(?<!x)a", "xa a"), "xa [a]");
  EXPECT_EQ(marked("\\bfoo\\b", "foo foox"), "[foo] foox");
  EXPECT_EQ(marked("^a$", "a\na b"), "[a]\na b") << "lines, as in Ruby";
}

TEST(Pattern, SetsKnowRangesPropertiesAndIntersection) {
  EXPECT_EQ(marked("[^\\r\\n\\p{L}\\p{N}]", "a1-\n가"), "a1[-]\n가");
  EXPECT_EQ(marked("[a-c\\-]+", "abd-c"), "[ab]d[-c]");
  EXPECT_EQ(marked("[]x]", "]x"), "[]][x]") << "a bracket first in a set is literal";
  EXPECT_EQ(marked("[\\p{L}&&[^\\p{Han}]]+", "ab漢字가"), "[ab]漢字[가]");
  EXPECT_EQ(marked("[一-龥]+", "abc漢字𠮷"), "abc[漢字]𠮷");
  EXPECT_EQ(marked("\\P{L}", "a1"), "a[1]");
}

TEST(Pattern, IgnoringCaseFollowsUnicodeFolding) {
  EXPECT_EQ(marked("(?i:'s|'ll)", "'S 'Ll 'ſ 's"), "['S] ['Ll] ['ſ] ['s]");
  EXPECT_EQ(marked("(?i:k)K", "KK kK"), "[KK] [kK]") << "only inside the group";
  EXPECT_EQ(marked("(?i)abc", "ABc"), "[ABc]");
}

TEST(Pattern, InvalidBytesCountAsReplacementCharacters) {
  EXPECT_EQ(marked("[^\\s\\p{L}\\p{N}]+", "a\xFF\xFE b"), "a[\xFF\xFE] b");
  EXPECT_EQ(marked("\\p{L}+", "a\xE6\xAD"), "[a]\xE6\xAD");
}

TEST(Pattern, NamesWhatItDoesNotSupport) {
  for (const char* source :
       {"(?<name>a)", "a**", "(", "a)", "[a", "\\p{Klingon}", "\\q", "[[:alpha:]]", "(?>a)",
        "(a*)*", "(?:ab)++", "a{2000}", "[z-a]", "*", "\xFF"}) {
    const auto pattern = Pattern::compile(source);
    ASSERT_FALSE(pattern) << source;
    EXPECT_EQ(pattern.error().code, ErrorCode::kUnsupported) << source;
  }
}

TEST(Pattern, DeepNestingIsRefusedNotRecursedInto) {
  EXPECT_FALSE(Pattern::compile(std::string(100000, '(')));
  EXPECT_FALSE(Pattern::compile(std::string(16000, '[')));
}

TEST(Pattern, RunsOutOfStepsRatherThanTime) {
  const Pattern pattern = compiled("(?:a|aa)+b");
  const std::string text(10000, 'a');
  Pattern::Scratch scratch(text.size());
  EXPECT_FALSE(pattern.find(text, 0, scratch));
  EXPECT_TRUE(scratch.exhausted());
}

TEST(Pattern, AFailedRunIsNotTriedFromEachOfItsPlaces) {
  const Pattern pattern = compiled("\\s+$");
  const std::string text = std::string(1 << 20, ' ') + "x";
  Pattern::Scratch scratch(text.size());
  EXPECT_FALSE(pattern.find(text, 0, scratch));
  EXPECT_FALSE(scratch.exhausted());
}

}  // namespace
}  // namespace tandem
