#include "text/tokenizer/pre_tokenizer.h"

#include <gtest/gtest.h>

#include "text/tokenizer/pre_tokenizer_names.h"

namespace tandem {
namespace {

/// Joins the words with "|", and checks that they lie in the text where they say.
class Collector : public WordSink {
 public:
  explicit Collector(std::string_view text) : text_(text) {}
  void add(const Word& word) override {
    if (!out.empty()) out += '|';
    out += word.text;
    const std::string_view own = word.text.substr(word.n_added);
    EXPECT_EQ(text_.substr(word.begin, own.size()), own);
  }
  std::string out;

 private:
  std::string_view text_;
};

std::string cut(const PreTokenizer& pre_tokenizer, std::string_view text, bool at_start = true) {
  Collector words(text);
  const auto outcome = pre_tokenizer.split({text}, at_start, words);
  return outcome ? words.out : "error: " + outcome.error().message;
}

std::string cut_by_name(std::string_view name, std::string_view text) {
  const auto named = pre_tokenizer_by_name(name);
  return named ? cut(named->pre_tokenizer, text) : "error: " + named.error().message;
}

// Field report J05. Expected: python3 -c "import regex; print('|'.join(regex.findall(P, T)))".
TEST(PreTokenizer, J05CutsCjkTextByUnicodeClasses) {
  const char* text = "“Hi,”世界世世世——2026.서울역3번";
  EXPECT_EQ(cut_by_name("qwen2", text), "“Hi|,”|世界世世世|——|2|0|2|6|.서울역|3|번");
  EXPECT_EQ(cut_by_name("gpt-4o", text), "“Hi|,”|世界世世世|——|202|6|.서울역|3|번");
  EXPECT_EQ(cut_by_name("gpt-2", text), "“|Hi|,”|世界世世世|——|2026|.|서울역|3|번");
  const char* wide = "ＡＢ１２！𠮷野 ①½";
  EXPECT_EQ(cut_by_name("qwen2", wide), "ＡＢ|１|２|！𠮷野| |①|½");
  EXPECT_EQ(cut_by_name("gpt-4o", wide), "ＡＢ|１２|！𠮷野| |①½");
  EXPECT_EQ(cut_by_name("gpt-2", wide), "ＡＢ|１２|！|𠮷野| ①½");
}

TEST(PreTokenizer, CutsContractionsSpacesAndCase) {
  EXPECT_EQ(cut_by_name("qwen2", "I'LL we've  x\n\n  y\t\tz   "),
            "I|'LL| we|'ve| | x|\n\n| | y|\t|\tz|   ");
  EXPECT_EQ(cut_by_name("gpt-4o", "I'LL we've  x\n\n  y\t\tz   "),
            "I'LL| we've| | x|\n\n| | y|\t|\tz|   ");
  EXPECT_EQ(cut_by_name("gpt-2", "I'LL we've  x\n\n  y\t\tz   "),
            "I|'|LL| we|'ve| | x|\n\n | y|\t|\t|z|   ");
  EXPECT_EQ(cut_by_name("gpt-4o", "fooBar HTTPServer's ÅÄÖab"), "foo|Bar| HTTPServer's| ÅÄÖab");
  EXPECT_EQ(cut_by_name("gpt-4o", "a, b!?\r\n/x"), "a|,| b|!?\r\n/|x");
}

TEST(PreTokenizer, StagesCutTheirPiecesFurther) {
  EXPECT_EQ(cut_by_name("deepseek-llm", "a1 한漢x\n  "), "a|1| |한漢|x|\n|  ");
  EXPECT_EQ(cut_by_name("starcoder", "ab12 c"), "ab|1|2| c");
  EXPECT_EQ(cut_by_name("deepseek-v3", "x+y 1234漢字"), "x|+y| |123|4|漢字");
  EXPECT_EQ(cut_by_name("falcon", "a b 12345"), "a| b| |123|45");
}

TEST(PreTokenizer, EveryKnownNameCompilesAndLosesNothing) {
  const std::string names = pre_tokenizer_names();
  const std::string text =
      "Hello, World's 12345 世界\r\n\tfoo() 한국어 🦜 ‘q’ \xFF end  ";
  size_t n_names = 0;
  for (size_t begin = 0; begin < names.size(); ++n_names) {
    const size_t end = std::min(names.find(", ", begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    begin = end + 2;
    std::string joined = cut_by_name(name, text);
    std::erase(joined, '|');
    EXPECT_EQ(joined, text) << name;
  }
  EXPECT_GT(n_names, 70U);
}

TEST(PreTokenizer, GroupsDigitsFromTheRightInLinearTime) {
  PreTokenizer groups;
  ASSERT_TRUE(groups.add_pattern("\\d{1,3}(?=(?:\\d{3})*\\b)"));
  EXPECT_EQ(cut(groups, "12345 1234567 12a ٣٤٥٦"), "12|345| |1|234|567| 12a |٣|٤٥٦");
  PreTokenizer from_right;
  ASSERT_TRUE(from_right.add_pattern("(?=(\\d{3})+(?!\\d))"));
  EXPECT_EQ(cut(from_right, "12345a"), "12|345|a");
  EXPECT_EQ(cut(groups, std::string(1 << 20, '7')).size(), (1U << 20) + (1U << 20) / 3);
}

std::string cut_with(const char* pattern, SplitBehavior behavior, bool invert, const char* text) {
  PreTokenizer pre_tokenizer;
  EXPECT_TRUE(pre_tokenizer.add_pattern(pattern, behavior, invert));
  return cut(pre_tokenizer, text);
}

// Expected: the example in the documentation of Hugging Face's SplitDelimiterBehavior.
TEST(PreTokenizer, SplitBehaviors) {
  const char* text = "the-final--countdown";
  EXPECT_EQ(cut_with("-", SplitBehavior::kRemoved, false, text), "the|final|countdown");
  EXPECT_EQ(cut_with("-", SplitBehavior::kIsolated, false, text), "the|-|final|-|-|countdown");
  EXPECT_EQ(cut_with("-", SplitBehavior::kMergedWithPrevious, false, text),
            "the-|final-|-|countdown");
  EXPECT_EQ(cut_with("-", SplitBehavior::kMergedWithNext, false, text), "the|-final|-|-countdown");
  EXPECT_EQ(cut_with("-", SplitBehavior::kContiguous, false, text), "the|-|final|--|countdown");
  EXPECT_EQ(cut_with("\\w+", SplitBehavior::kRemoved, true, text), "the|final|countdown");
}

TEST(PreTokenizer, PrefixesAndCutsOfSentencePiece) {
  PreTokenizer always;
  always.add_prefix(" ", false);
  EXPECT_EQ(cut(always, "a b"), " a b");
  EXPECT_EQ(cut(always, " a"), " a") << "one is enough";
  PreTokenizer first;
  first.add_prefix(" ", true);
  EXPECT_EQ(cut(first, "a", false), "a") << "not at the input's beginning";
  PreTokenizer runs;
  ByteSet joined{};
  joined['>'] = true;
  runs.add_cut_before_spaces(joined);
  EXPECT_EQ(cut(runs, "  a  b c "), "  a|  b| c| ");
  EXPECT_EQ(cut(runs, "a> </b> c d"), "a> </b> c| d") << "a token may reach across";
  PreTokenizer each;
  each.add_cut_before_each_space();
  EXPECT_EQ(cut(each, "a  b"), "a| | b");
  PreTokenizer fixed;
  fixed.add_fixed_length(2);
  EXPECT_EQ(cut(fixed, "가나다라마"), "가나|다라|마");
}

TEST(PreTokenizer, ReportsAPatternThatRunsAway) {
  EXPECT_NE(cut_with("(?:a|aa)+b", SplitBehavior::kIsolated, false, std::string(5000, 'a').c_str())
                .find("too many steps"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem
