#include "evaluation/text_evaluation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "evaluation/evaluation.h"
#include "tests/support/tiny_model.h"

namespace tandem {
namespace {

using testing::make_engine;
using testing::make_tiny_model;
using testing::some_tokens;
using testing::tiny_shape;

constexpr size_t kTokens = 40;

std::vector<Window> windows_of(const std::vector<TokenId>& text) {
  return *make_windows(text, std::nullopt, {.window = 16, .stride = 8});
}

std::shared_ptr<Engine> engine_of(DType type, uint64_t seed = 1) {
  return make_engine(make_tiny_model(tiny_shape("llama"), type, seed),
                     {.context = 32, .n_threads = 2, .check_finite = true});
}

Result<TokenScores> score(const std::shared_ptr<Engine>& engine, const std::vector<Window>& windows,
                          const TextComparison& comparison = {}, uint32_t max_rows = 16) {
  const auto source = std::move(*SessionSource::create(engine));
  return score_windows(windows, *source, comparison,
                       {.vocabulary = engine->vocabulary(), .max_rows = max_rows, .n_threads = 2});
}

double slow_log_probability(const std::vector<float>& logits, TokenId token) {
  long double sum = 0;
  for (const float v : logits) sum += std::exp(static_cast<long double>(v));
  return static_cast<double>(logits[token] - std::log(sum));
}

double slow_kl(const std::vector<float>& p, const std::vector<float>& q) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double log_p = slow_log_probability(p, static_cast<TokenId>(i));
    sum += std::exp(log_p) * (log_p - slow_log_probability(q, static_cast<TokenId>(i)));
  }
  return sum;
}

TEST(TextEvaluation, EqualsWindowsComputedOneByOne) {
  const auto engine = engine_of(DType::kF32);
  const auto windows = windows_of(some_tokens(kTokens));
  std::vector<double> expected;
  for (const Window& w : windows) {
    const auto logits = testing::all_logits(engine, w.tokens, 16);
    for (size_t i = w.n_context; i < w.tokens.size(); ++i) {
      expected.push_back(-slow_log_probability(logits[i - 1], w.tokens[i]));
    }
  }
  ASSERT_EQ(expected.size(), kTokens - 1);
  for (const uint32_t max_rows : {1u, 3u, 16u}) {
    const auto scores = score(engine, windows, {}, max_rows);
    ASSERT_TRUE(scores) << scores.error().message;
    ASSERT_EQ(scores->nll.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(scores->nll[i], expected[i], 1e-9);
  }
}

TEST(TextEvaluation, DivergenceEqualsItsDefinition) {
  const auto exact = engine_of(DType::kF32), rounded = engine_of(DType::kQ4_0);
  const auto windows = windows_of(some_tokens(kTokens));
  const auto reference = std::move(*SessionSource::create(exact));
  const auto scores = score(rounded, windows, {.reference = reference.get()});
  ASSERT_TRUE(scores) << scores.error().message;
  size_t n = 0, n_same = 0;
  for (const Window& w : windows) {
    const auto p = testing::all_logits(exact, w.tokens, 16);
    const auto q = testing::all_logits(rounded, w.tokens, 16);
    for (size_t i = w.n_context; i < w.tokens.size(); ++i, ++n) {
      EXPECT_NEAR(scores->kl[n], slow_kl(p[i - 1], q[i - 1]), 1e-9);
      const auto top = [](const auto& row) {
        return std::max_element(row.begin(), row.end()) - row.begin();
      };
      const bool same = top(p[i - 1]) == top(q[i - 1]);
      EXPECT_EQ(scores->same_top[n], same ? 1 : 0);
      EXPECT_NEAR(scores->reference_nll[n], -slow_log_probability(p[i - 1], w.tokens[i]), 1e-9);
      n_same += same;
    }
  }
  const TextFigures figures = summarize(*scores);
  ASSERT_TRUE(figures.divergence);
  EXPECT_GT(figures.divergence->mean.value, 0);
  EXPECT_NEAR(figures.divergence->same_top.value,
              static_cast<double>(n_same) / static_cast<double>(n), 1e-12);
  EXPECT_NEAR(figures.perplexity.value / figures.divergence->reference_perplexity,
              figures.divergence->perplexity_ratio.value, 1e-9);
}

TEST(TextEvaluation, AModelDoesNotDivergeFromItself) {
  const auto engine = engine_of(DType::kQ8_0);
  const auto reference = std::move(*SessionSource::create(engine));
  const auto scores =
      score(engine, windows_of(some_tokens(kTokens)), {.reference = reference.get()});
  ASSERT_TRUE(scores);
  for (const double kl : scores->kl) EXPECT_EQ(kl, 0);
  for (const double same : scores->same_top) EXPECT_EQ(same, 1);
}

TEST(TextEvaluation, StoredLogitsGiveTheReferencesFigures) {
  const std::string path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("tandem-ref-{}", getpid());
  const auto exact = engine_of(DType::kF32), rounded = engine_of(DType::kQ4_0);
  const auto windows = windows_of(some_tokens(kTokens));
  auto writer =
      LogitsWriter::create(path, {1, windows_hash(windows), exact->vocabulary(), kTokens - 1});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(score(exact, windows, {.save = &*writer}));
  ASSERT_TRUE(writer->commit());
  const auto reference = std::move(*SessionSource::create(exact));
  const auto direct = score(rounded, windows, {.reference = reference.get()});
  auto reader = LogitsReader::open(path);
  ASSERT_TRUE(reader);
  const auto stored = score(rounded, windows, {.stored = &*reader});
  ASSERT_TRUE(stored) << stored.error().message;
  const auto a = summarize(*direct), b = summarize(*stored);
  EXPECT_NEAR(b.divergence->mean.value / a.divergence->mean.value, 1, 1e-3);
  EXPECT_EQ(stored->same_top, direct->same_top);
  EXPECT_NEAR(b.divergence->perplexity_ratio.value, a.divergence->perplexity_ratio.value, 1e-6);

  auto again = LogitsReader::open(path);
  const auto other = score(rounded, windows_of(some_tokens(kTokens, 9)), {.stored = &*again});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another text"), std::string::npos);
  std::filesystem::remove(path);
}

/// Every token equally likely, but for one row with a logit that is no number.
class FlatSource : public LogitsSource {
 public:
  explicit FlatSource(size_t bad_row) : bad_row_(bad_row) {}
  Result<void> begin(std::span<const TokenId>) override { return {}; }
  Result<void> predict(std::span<const TokenId> targets, float* logits) override {
    for (size_t i = 0; i < targets.size(); ++i, ++n_rows_) {
      std::fill_n(logits + i * 8, 8, 2.5f);
      if (n_rows_ == bad_row_) logits[i * 8 + 3] = std::numeric_limits<float>::infinity();
    }
    return {};
  }

 private:
  size_t bad_row_;
  size_t n_rows_ = 0;
};

TEST(TextEvaluation, FlatDistributionHasThePerplexityOfTheVocabulary) {
  FlatSource source(SIZE_MAX);
  const std::vector<TokenId> text(50, 1);
  const auto scores = score_windows(windows_of(text), source, {}, {.vocabulary = 8});
  ASSERT_TRUE(scores);
  const TextFigures figures = summarize(*scores);
  EXPECT_NEAR(figures.perplexity.value, 8, 1e-12);
  EXPECT_NEAR(figures.perplexity.standard_error, 0, 1e-9);
}

TEST(TextEvaluation, AnInfiniteLogitStopsAtOnceNamingWindowAndPosition) {
  // Rows 0 to 14 are the first window's positions 0 to 14, rows 15 to 22 the second's 7 to 14.
  FlatSource source(16);
  const std::vector<TokenId> text(50, 1);
  const auto scores = score_windows(windows_of(text), source, {}, {.vocabulary = 8});
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().code, ErrorCode::kNumeric);
  EXPECT_EQ(scores.error().message,
            "window 2 of 6 (scores tokens 16 to 23): position 8: the logit of token 3 is inf");
}

/// A model whose tensor `name` has a NaN scale in its first block.
std::shared_ptr<Engine> broken_engine(const std::string& name) {
  const auto model = make_tiny_model(tiny_shape("llama"), DType::kQ4_0);
  const auto whole = model->file().files[0]->bytes();
  std::vector<std::byte> copy(whole.begin(), whole.end());
  const uint16_t nan = 0x7e00;
  std::memcpy(copy.data() + (model->find_tensor(name)->bytes.data() - whole.data()), &nan,
              sizeof nan);
  const std::string path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("tandem-nan-{}", getpid());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(copy.data()), static_cast<std::streamsize>(copy.size()));
  auto engine =
      make_engine(*Model::load(path), {.context = 32, .n_threads = 1, .check_finite = true});
  std::filesystem::remove(path);
  return engine;
}

TEST(TextEvaluation, NanScaleInAWeightNamesWindowPositionAndLayer) {
  const auto engine = broken_engine("blk.1.ffn_up.weight");
  const auto scores = score(engine, windows_of(some_tokens(kTokens)));
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().code, ErrorCode::kNumeric);
  for (const char* part : {"window 1 of 4", "layers.1.up", "at position 0"}) {
    EXPECT_NE(scores.error().message.find(part), std::string::npos) << scores.error().message;
  }
}

}  // namespace
}  // namespace tandem
