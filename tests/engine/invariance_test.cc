// One model gives the same bits for every chunk split, thread count, instruction set and batch.

#include <gtest/gtest.h>

#include "device/cpu/cpu_device.h"
#include "engine/decode_batch.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

constexpr size_t kTokens = 40;  // crosses window 8, original context 16 and a key tile

class Invariance : public ::testing::TestWithParam<std::string> {};

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string out = info.param;
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

TEST_P(Invariance, ChunksThreadsAndInstructionSetsGiveTheSameBits) {
  for (DType type : {DType::kF32, DType::kF16, DType::kQ8_0, DType::kQ4_0}) {
    const auto model = make_tiny_model(tiny_shape(GetParam()), type);
    const auto tokens = some_tokens(kTokens);
    const auto expected = all_logits(make_engine(model), tokens, kTokens);
    ASSERT_EQ(expected.size(), kTokens);
    for (size_t chunk : {1, 3, 7, 16}) {
      EXPECT_EQ(all_logits(make_engine(model), tokens, chunk), expected)
          << name(type) << ", chunks of " << chunk;
    }
    for (int n_threads : {1, 3}) {
      const auto engine = make_engine(model, {.context = 64, .n_threads = n_threads});
      EXPECT_EQ(all_logits(engine, tokens, 16), expected)
          << name(type) << ", " << n_threads << " threads";
    }
    for (int i = 0; i < kernels::kIsaCount; ++i) {
      const auto isa = static_cast<kernels::Isa>(i);
      if (!can_run(isa)) continue;
      const auto engine = make_engine(model, {.context = 64, .n_threads = 2, .isa = isa});
      EXPECT_EQ(all_logits(engine, tokens, 16), expected)
          << name(type) << ", " << kernels::to_string(isa);
    }
  }
}

// Rows with dot products of bf16 round activations, so instruction sets differ; within one nothing
// else counts.
TEST_P(Invariance, Bf16ChunksAndThreadsGiveTheSameBitsOnEachInstructionSet) {
  const auto model = make_tiny_model(tiny_shape(GetParam()), DType::kBF16);
  const auto tokens = some_tokens(kTokens);
  for (int i = 0; i < kernels::kIsaCount; ++i) {
    const auto isa = static_cast<kernels::Isa>(i);
    if (!can_run(isa)) continue;
    const auto logits = [&](int n_threads, size_t chunk) {
      const auto engine = make_engine(model, {.context = 64, .n_threads = n_threads, .isa = isa});
      return all_logits(engine, tokens, chunk);
    };
    const auto expected = logits(1, kTokens);
    for (const size_t chunk : {1, 3, 16}) {
      EXPECT_EQ(logits(3, chunk), expected) << kernels::to_string(isa) << ", chunks of " << chunk;
    }
  }
}

TEST_P(Invariance, NeighboursInABatchChangeNothing) {
  const auto engine = make_engine(make_tiny_model(tiny_shape(GetParam()), DType::kQ4_0));
  const size_t n_sequences = 5;
  DecodeBatch batch(engine);
  std::vector<std::unique_ptr<Session>> owners;
  std::vector<Session*> sessions;
  std::vector<std::vector<TokenId>> texts;
  for (size_t s = 0; s < n_sequences; ++s) {
    texts.push_back(some_tokens(20, s + 1));
    owners.push_back(std::move(*Session::create(engine)));
    // Different lengths, so that each decodes at a position of its own.
    ASSERT_TRUE(owners[s]->append(std::span(texts[s]).first(1 + 2 * s)));
    sessions.push_back(owners[s].get());
  }
  for (size_t step = 0; step < 10; ++step) {
    std::vector<TokenId> next;
    for (size_t s = 0; s < n_sequences; ++s) next.push_back(texts[s][1 + 2 * s + step]);
    ASSERT_TRUE(batch.step(sessions, next));
  }
  for (size_t s = 0; s < n_sequences; ++s) {
    const std::vector<TokenId> whole(texts[s].begin(), texts[s].begin() + 11 + 2 * s);
    const auto alone = all_logits(engine, whole, whole.size()).back();
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), sessions[s]->logits().begin()))
        << "sequence " << s;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Invariance, ::testing::ValuesIn(tiny_shape_names()), test_name);

}  // namespace
}  // namespace tandem::testing
