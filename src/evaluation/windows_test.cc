#include "evaluation/windows.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace tandem {
namespace {

constexpr TokenId kBos = 1000;

std::vector<TokenId> text_of(size_t n) {
  std::vector<TokenId> text(n);
  std::iota(text.begin(), text.end(), 0);
  return text;
}

std::vector<Window> windows_of(size_t n, std::optional<TokenId> bos, const WindowOptions& options) {
  const auto windows = make_windows(text_of(n), bos, options);
  EXPECT_TRUE(windows) << (windows ? "" : windows.error().message);
  return windows.value_or(std::vector<Window>());
}

/// How often each token of the text is scored, and the shortest context a token was given. Tokens
/// are their own positions.
std::map<TokenId, size_t> contexts(const std::vector<Window>& windows) {
  std::map<TokenId, size_t> out;
  for (const Window& w : windows) {
    EXPECT_EQ(w.tokens[w.n_context], static_cast<TokenId>(w.text_position));
    for (size_t i = w.n_context; i < w.tokens.size(); ++i) {
      EXPECT_TRUE(out.emplace(w.tokens[i], i).second) << "scored twice: " << w.tokens[i];
    }
  }
  return out;
}

TEST(Windows, SlidingScoresEveryTokenOnceWithEnoughBefore) {
  for (const size_t n : {2, 9, 10, 11, 12, 13, 40, 41, 100}) {
    const auto scored = contexts(
        windows_of(n, std::nullopt, {.mode = WindowMode::kSliding, .window = 10, .stride = 4}));
    EXPECT_EQ(scored.size(), n - 1);
    for (const auto& [token, before] : scored) {
      EXPECT_GE(before, std::min<size_t>(token, 6)) << token;
    }
  }
}

TEST(Windows, SlidingBehindBosScoresTheFirstTokenToo) {
  const auto windows =
      windows_of(23, kBos, {.mode = WindowMode::kSliding, .window = 10, .stride = 9});
  for (const Window& w : windows) {
    EXPECT_EQ(w.tokens[0], kBos);
    EXPECT_LE(w.tokens.size(), 10u);
  }
  EXPECT_EQ(contexts(windows).size(), 23u);
}

TEST(Windows, ChunksStandSideBySide) {
  const auto windows =
      windows_of(25, std::nullopt, {.mode = WindowMode::kChunked, .window = 10, .stride = 3});
  ASSERT_EQ(windows.size(), 3u);
  const auto scored = contexts(windows);
  EXPECT_EQ(scored.size(), 22u);  // all but 0, 10 and 20
  EXPECT_EQ(scored.count(10), 0u);
  EXPECT_EQ(scored.at(11), 1u);
}

// llama-perplexity: n_tokens / n_ctx chunks; in each, logits from position n_ctx / 2 on predict the
// next token, so n_ctx - 1 - n_ctx / 2 tokens count; BOS overwrites the first token of a chunk.
TEST(Windows, LlamaCppScoresTheSecondHalfOfWholeChunks) {
  const auto windows = windows_of(35, std::nullopt, {.mode = WindowMode::kLlamaCpp, .window = 8});
  ASSERT_EQ(windows.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(windows[i].tokens.size(), 8u);
    EXPECT_EQ(windows[i].n_context, 5u);
    EXPECT_EQ(windows[i].n_scored(), 3u);
    EXPECT_EQ(windows[i].tokens[0], static_cast<TokenId>(8 * i));
  }
  contexts(windows);
}

TEST(Windows, LlamaCppPutsBosInPlaceOfAChunksFirstToken) {
  // The text itself begins with BOS, so chunk 1 begins with token 7, which BOS replaces.
  const auto windows = windows_of(20, kBos, {.mode = WindowMode::kLlamaCpp, .window = 8});
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].tokens, (std::vector<TokenId>{kBos, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(windows[1].tokens, (std::vector<TokenId>{kBos, 8, 9, 10, 11, 12, 13, 14}));
  contexts(windows);
}

TEST(Windows, FirstWindowsOnly) {
  EXPECT_EQ(windows_of(100, std::nullopt, {.window = 10, .stride = 5, .max_windows = 3}).size(),
            3u);
}

TEST(Windows, RefusesSizesOutOfRange) {
  const auto refused = [](size_t n, std::optional<TokenId> bos, const WindowOptions& options) {
    const auto windows = make_windows(text_of(n), bos, options);
    return windows ? std::string() : windows.error().message;
  };
  EXPECT_NE(refused(9, {}, {.window = 1}).find("window of 1"), std::string::npos);
  EXPECT_NE(refused(9, {}, {.window = 8, .stride = 0}).find("stride of 0"), std::string::npos);
  EXPECT_NE(refused(9, kBos, {.window = 8, .stride = 8}).find("stride of 8"), std::string::npos);
  EXPECT_NE(refused(1, {}, {.window = 8, .stride = 4}).find("1 tokens"), std::string::npos);
  EXPECT_NE(refused(15, {}, {.mode = WindowMode::kLlamaCpp, .window = 8}).find("15 tokens"),
            std::string::npos);
}

TEST(Windows, HashTellsTextsAndWindowsApart) {
  const auto hash = [](size_t n, uint32_t stride) {
    return windows_hash(windows_of(n, std::nullopt, {.window = 10, .stride = stride}));
  };
  EXPECT_EQ(hash(50, 5), hash(50, 5));
  EXPECT_NE(hash(50, 5), hash(50, 4));
  EXPECT_NE(hash(50, 5), hash(51, 5));
}

}  // namespace
}  // namespace tandem
