// Steady decode allocates nothing: every operator new of this program is counted.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/decode_batch.h"
#include "engine/sampling/sampler.h"
#include "tests/support/tiny_model.h"

namespace {

std::atomic<size_t> n_allocations{0};

void* counted(size_t n_bytes) {
  ++n_allocations;
  if (void* p = std::malloc(n_bytes)) return p;
  std::abort();
}

}  // namespace

void* operator new(size_t n) { return counted(n); }
void* operator new[](size_t n) { return counted(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace tandem::testing {
namespace {

TEST(SteadyDecode, AllocatesNothing) {
  const auto engine = make_engine(make_tiny_model(tiny_shape("qwen3"), DType::kQ4_0));
  const auto session = std::move(*Session::create(engine));
  Sampler sampler = *Sampler::create({.temperature = 0.8f, .seed = 1}, 512, 64);
  ASSERT_TRUE(session->append(some_tokens(5)));
  const size_t before = n_allocations;
  for (int i = 0; i < 40; ++i) {
    const auto token = sampler.sample(session->logits());
    ASSERT_TRUE(token && sampler.accept(token->id) && session->append({&token->id, 1}));
  }
  EXPECT_EQ(n_allocations - before, 0u);
}

TEST(SteadyDecode, BatchesAllocateNothing) {
  const auto engine = make_engine(make_tiny_model(tiny_shape("gemma3"), DType::kF16));
  const auto a = std::move(*Session::create(engine)), b = std::move(*Session::create(engine));
  DecodeBatch batch(engine);
  Session* const sessions[] = {a.get(), b.get()};
  const TokenId tokens[] = {1, 2};
  ASSERT_TRUE(batch.step(sessions, tokens));
  const size_t before = n_allocations;
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(batch.step(sessions, tokens));
  EXPECT_EQ(n_allocations - before, 0u);
}

TEST(SteadyDecode, TheCounterCounts) {
  const size_t before = n_allocations;
  const auto owner = std::make_unique<int>(1);
  EXPECT_EQ(n_allocations - before, 1u) << *owner;
}

}  // namespace
}  // namespace tandem::testing
