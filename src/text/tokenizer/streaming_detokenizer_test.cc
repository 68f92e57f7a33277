#include "text/tokenizer/streaming_detokenizer.h"

#include <gtest/gtest.h>

#include "text/tokenizer/test_metadata.h"

namespace tandem {
namespace {

constexpr TokenId kControlId = 256;

std::unique_ptr<const Tokenizer> bytes_tokenizer() {
  return make_tokenizer(byte_level_metadata("gpt-2", {}, {"<|im_end|>"}));
}

/// The chunks joined by "|", each byte of `text` pushed as a token of its own.
std::string streamed(const Tokenizer& tokenizer, std::string_view text,
                     std::vector<std::string> stops = {}) {
  StreamingDetokenizer stream(tokenizer, std::move(stops));
  std::string out;
  for (const char c : text) {
    out += stream.push(static_cast<uint8_t>(c));
    if (!out.empty() && out.back() != '|') out += '|';
    if (stream.stopped()) break;
  }
  out += stream.finish();
  return out;
}

// Field report B06.
TEST(StreamingDetokenizer, B06NeverShowsHalfACharacter) {
  const auto tokenizer = bytes_tokenizer();
  EXPECT_EQ(streamed(*tokenizer, "a🦜b"), "a|🦜|b|");
  EXPECT_EQ(streamed(*tokenizer, "한글"), "한|글|");
  EXPECT_EQ(streamed(*tokenizer, "\xF0\x9F"), "�") << "an incomplete tail is one mark";
  const std::vector<TokenId> tail = {0xF0, 0x9F};
  EXPECT_EQ(tokenizer->decode(tail), "�") << "the same without streaming";
}

TEST(StreamingDetokenizer, B06InvalidBytesDoNotStallTheStream) {
  const auto tokenizer = bytes_tokenizer();
  EXPECT_EQ(streamed(*tokenizer, "\xFF\x80ok"), "�|�|o|k|");
  EXPECT_EQ(streamed(*tokenizer,
                     "\xF0\x9F"
                     "a"),
            "�a|");
}

// Field report B07: what comes out can always be put into JSON.
TEST(StreamingDetokenizer, B07OutputIsAlwaysValidUtf8) {
  const auto tokenizer = bytes_tokenizer();
  EXPECT_EQ(streamed(*tokenizer, "\x90ok"), "�|o|k|");
  EXPECT_EQ(tokenizer->piece_bytes(0x90), "\x90") << "logprobs still see the byte";
}

TEST(StreamingDetokenizer, HoldsBackWhatMayBecomeAStopString) {
  const auto tokenizer = bytes_tokenizer();
  EXPECT_EQ(streamed(*tokenizer, "ab\nUser: c", {"\nUser:"}), "a|b|");
  EXPECT_EQ(streamed(*tokenizer, "ab\nUse it", {"\nUser:"}), "a|b|\nUse |i|t|") << "all released";
  EXPECT_EQ(streamed(*tokenizer, "ab\nUse", {"\nUser:"}), "a|b|\nUse") << "at the end as well";
  EXPECT_EQ(streamed(*tokenizer, "aab", {"aab"}), "") << "nothing but the stop string";
  EXPECT_EQ(streamed(*tokenizer, "aaab", {"aab"}), "a|") << "overlapping beginnings";
}

TEST(StreamingDetokenizer, StopsAtTheFirstOfSeveralStopStrings) {
  const auto tokenizer = bytes_tokenizer();
  StreamingDetokenizer stream(*tokenizer, {"끝", "", "END"});
  std::string shown;
  for (const char c : std::string("답END 끝")) shown += stream.push(static_cast<uint8_t>(c));
  shown += stream.finish();
  EXPECT_EQ(shown, "답");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.matched_stop(), "END");
}

TEST(StreamingDetokenizer, AStopStringInsideOneTokenCutsIt) {
  const auto tokenizer =
      make_tokenizer(byte_level_metadata("gpt-2", {"a b", "c d", "ab cd"}));  // 256, 257, 258
  StreamingDetokenizer stream(*tokenizer, {"bc"});
  EXPECT_EQ(stream.push(258), "a");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.push(258), "") << "nothing after the stop";
  EXPECT_EQ(stream.finish(), "");
}

TEST(StreamingDetokenizer, ControlTokensShowOnlyWhenAsked) {
  const auto tokenizer = bytes_tokenizer();
  StreamingDetokenizer hidden(*tokenizer);
  EXPECT_EQ(hidden.push(kControlId), "");
  EXPECT_EQ(hidden.push(100000), "") << "no such token";
  StreamingDetokenizer shown(*tokenizer, {}, {.show_control = true, .begins_text = false});
  EXPECT_EQ(shown.push(kControlId), "<|im_end|>");
}

TEST(StreamingDetokenizer, TakesTheDummySpaceAwayOnlyWhereATextBegins) {
  const auto tokenizer = make_tokenizer(sentencepiece_metadata({{"▁hi", -1}, {"▁", -2}}));
  const TokenId hi = 259;
  StreamingDetokenizer reply(*tokenizer);
  EXPECT_EQ(reply.push(hi), " hi") << "a reply continues its prompt";
  StreamingDetokenizer text(*tokenizer, {}, {.show_control = false, .begins_text = true});
  EXPECT_EQ(text.push(1), "") << "BOS does not count";
  EXPECT_EQ(text.push(hi), "hi");
  EXPECT_EQ(text.push(hi), " hi");
}

}  // namespace
}  // namespace tandem
