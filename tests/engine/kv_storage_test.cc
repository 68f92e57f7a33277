// The int8 key/value cache through engine, sessions and session files (docs/attention.md).

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "device/cpu/cpu_device.h"
#include "engine/session.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

constexpr size_t kTokens = 48;  // crosses window 8 and three key tiles

EngineOptions coded(int n_threads = 2) {
  return {.context = 64, .n_threads = n_threads, .kv_storage = kernels::KvStorage::kI8};
}

/// KL(p || q) in nats of the softmax of two rows of logits.
double divergence(const std::vector<float>& p, const std::vector<float>& q) {
  const auto log_sum = [](const std::vector<float>& x) {
    const double top = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (float v : x) sum += std::exp(v - top);
    return top + std::log(sum);
  };
  const double p_sum = log_sum(p), q_sum = log_sum(q);
  double out = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    out += std::exp(p[i] - p_sum) * ((p[i] - p_sum) - (q[i] - q_sum));
  }
  return out;
}

size_t best(const std::vector<float>& logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

TEST(KvStorage, Int8GivesTheSameBitsForChunksThreadsAndInstructionSets) {
  for (const char* shape : {"qwen3", "gemma3"}) {
    const auto model = make_tiny_model(tiny_shape(shape), DType::kQ8_0);
    const auto tokens = some_tokens(kTokens);
    const auto expected = all_logits(make_engine(model, coded()), tokens, kTokens);
    EXPECT_EQ(all_logits(make_engine(model, coded()), tokens, 1), expected);
    EXPECT_EQ(all_logits(make_engine(model, coded(3)), tokens, 7), expected);
    for (int i = 0; i < kernels::kIsaCount; ++i) {
      EngineOptions options = coded();
      options.isa = static_cast<kernels::Isa>(i);
      if (!can_run(*options.isa)) continue;
      EXPECT_EQ(all_logits(make_engine(model, options), tokens, 16), expected)
          << shape << ", " << kernels::to_string(*options.isa);
    }
  }
}

// The bound that docs/attention.md states: a 4-bit weight format costs a hundred times more.
TEST(KvStorage, Int8StaysCloseToF16) {
  constexpr double kLargestDivergence = 1e-3;
  for (const std::string& shape : tiny_shape_names()) {
    const auto model = make_tiny_model(tiny_shape(shape));
    const auto tokens = some_tokens(kTokens);
    const auto f16 = all_logits(make_engine(model), tokens, kTokens);
    const auto i8 = all_logits(make_engine(model, coded()), tokens, kTokens);
    double mean = 0;
    size_t n_same = 0;
    for (size_t t = 0; t < kTokens; ++t) {
      mean += divergence(f16[t], i8[t]) / kTokens;
      n_same += best(f16[t]) == best(i8[t]);
    }
    EXPECT_GT(mean, 0.0) << shape << ": nothing was coded";
    EXPECT_LT(mean, kLargestDivergence) << shape;
    EXPECT_GE(n_same, kTokens * 9 / 10) << shape;
  }
}

TEST(KvStorage, Int8HalvesTheCache) {
  const auto model = make_tiny_model(tiny_shape("llama"));
  const uint64_t f16 = make_engine(model)->plan().state_bytes;
  const uint64_t i8 = make_engine(model, coded())->plan().state_bytes;
  const auto& h = model->hyperparameters();
  // Codes take half the bytes; two scales of four bytes come on top for each position and head.
  const uint64_t scales = uint64_t{64} * h.n_layers * h.n_kv_heads * 2 * sizeof(float);
  EXPECT_EQ(i8, f16 / 2 + scales);
}

TEST(KvStorage, SavedInt8SessionGoesOnAndOtherStorageIsRefused) {
  const auto model = make_tiny_model(tiny_shape("qwen2"), DType::kQ8_0);
  const auto engine = make_engine(model, coded());
  const auto saved = std::move(*Session::create(engine));
  ASSERT_TRUE(saved->append(some_tokens(21)));
  const auto path = std::filesystem::temp_directory_path() / "tandem_kv_storage_test.session";
  ASSERT_TRUE(saved->save(path));
  const auto loaded = std::move(*Session::create(engine));
  ASSERT_TRUE(loaded->load(path));
  const auto next = some_tokens(5, 9);
  ASSERT_TRUE(saved->append(next));
  ASSERT_TRUE(loaded->append(next));
  EXPECT_TRUE(std::equal(saved->logits().begin(), saved->logits().end(), loaded->logits().begin()));

  const auto plain = std::move(*Session::create(make_engine(model)));
  const auto refused = plain->load(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused.error().message.find("cache layout"), std::string::npos);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tandem::testing
