// Ceilings of this machine for one thread: registers only for arithmetic, a long read for memory.

#include "kernels/linear/linear_bench_roof.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/cpu_features.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tandem::kernels::bench {
namespace {

template <class F>
double best_seconds(F&& f) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = thread_seconds();
    f();
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

#if defined(__x86_64__)

constexpr int64_t kRounds = 4'000'000;
constexpr int kChains = 12;

[[gnu::target("avx512f,avx512vnni")]] void int8_vnni() {
  __m512i acc[kChains] = {};
  const __m512i one = _mm512_set1_epi8(1);
  for (int64_t i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (auto& a : acc) a = _mm512_dpbusd_epi32(a, one, one);
#pragma GCC unroll 12
    for (auto& a : acc) asm volatile("" : "+v"(a));
  }
}
[[gnu::target("avx512f,avx512bf16")]] void bf16_pairs() {
  __m512 acc[kChains] = {};
  const auto one = (__m512bh)_mm512_set1_epi16(0x3f80);
  for (int64_t i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (auto& a : acc) a = _mm512_dpbf16_ps(a, one, one);
#pragma GCC unroll 12
    for (auto& a : acc) asm volatile("" : "+v"(a));
  }
}
[[gnu::target("avx512f")]] void float_avx512() {
  __m512 acc[kChains] = {};
  const __m512 one = _mm512_set1_ps(1);
  for (int64_t i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (auto& a : acc) a = _mm512_fmadd_ps(one, one, a);
#pragma GCC unroll 12
    for (auto& a : acc) asm volatile("" : "+v"(a));
  }
}
/// Without VNNI an int8 product takes a multiply, a widening and an addition.
[[gnu::target("avx2")]] void int8_avx2() {
  __m256i acc[kChains] = {};
  __m256i one = _mm256_set1_epi8(1);
  for (int64_t i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (auto& a : acc) {
      asm volatile("" : "+x"(one));
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_maddubs_epi16(one, one), one));
    }
  }
#pragma GCC unroll 12
  for (auto& a : acc) asm volatile("" : : "x"(a));  // or a chain is dropped
}
[[gnu::target("avx2,fma")]] void float_avx2() {
  __m256 acc[kChains] = {};
  const __m256 one = _mm256_set1_ps(1);
  for (int64_t i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (auto& a : acc) a = _mm256_fmadd_ps(one, one, a);
#pragma GCC unroll 12
    for (auto& a : acc) asm volatile("" : "+x"(a));
  }
}

double gmac_int8() {
  const double rounds = 1e-9 * kRounds * kChains;
  if (CpuFeatures::detect().avx512_vnni) return rounds * 64 / best_seconds(int8_vnni);
  return rounds * 32 / best_seconds(int8_avx2);
}
double gmac_bf16() {
  if (!CpuFeatures::detect().avx512_bf16) return 0;
  return 1e-9 * kRounds * kChains * 32 / best_seconds(bf16_pairs);
}
double gmac_float32() {
  const double rounds = 1e-9 * kRounds * kChains;
  if (CpuFeatures::detect().avx512) return rounds * 16 / best_seconds(float_avx512);
  return rounds * 8 / best_seconds(float_avx2);
}

#else

double gmac_int8() { return 0; }
double gmac_bf16() { return 0; }
double gmac_float32() { return 0; }

#endif

#if defined(__x86_64__)
/// Registers as wide as every kernel has, four streams of loads: what limits is the memory.
[[gnu::target("avx2")]] void read_all(const uint64_t* data, size_t n_words) {
  __m256i lanes[4] = {};
  const auto* p = reinterpret_cast<const __m256i*>(data);
  for (size_t i = 0; i + 8 <= n_words / 4; i += 8) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      lanes[j % 4] = _mm256_xor_si256(lanes[j % 4], _mm256_load_si256(p + i + j));
    }
    __builtin_prefetch(p + i + 256);
    __builtin_prefetch(p + i + 258);
    __builtin_prefetch(p + i + 260);
    __builtin_prefetch(p + i + 262);
  }
  for (auto& lane : lanes) asm volatile("" : "+x"(lane));
}
#else
void read_all(const uint64_t* data, size_t n_words) {
  uint64_t lanes[8] = {};
  for (size_t i = 0; i < n_words; i += 8) {
    for (int j = 0; j < 8; ++j) lanes[j] ^= data[i + j];
  }
  for (auto& lane : lanes) asm volatile("" : "+r"(lane));
}
#endif

/// Pages of 2 MB where the system has them: with small ones the walk of page tables would count.
double read_gbytes() {
  constexpr size_t kBytes = 256 << 20, kHugePage = 2 << 20;
  auto* data = static_cast<uint64_t*>(std::aligned_alloc(kHugePage, kBytes));
  madvise(data, kBytes, MADV_HUGEPAGE);
  std::fill_n(data, kBytes / sizeof *data, 1);
  const double seconds = best_seconds([&] { read_all(data, kBytes / sizeof *data); });
  std::free(data);
  return 1e-9 * kBytes / seconds;
}

}  // namespace

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const Roof& roof() {
  static const Roof measured{gmac_int8(), gmac_bf16(), gmac_float32(), read_gbytes()};
  return measured;
}

}  // namespace tandem::kernels::bench
