// Speed of both planes of nested weights, and of the high plane alone (which is the Q4_0 row),
// beside Q4_0 and Q8_0 on the same shapes and in one run:
//   linear_bench --benchmark_filter='^nested/.*avx512'

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "base/buffer.h"
#include "base/check.h"
#include "kernels/linear/linear_bench_roof.h"
#include "kernels/linear/nested_testing.h"

namespace tandem::kernels {
namespace {

constexpr size_t kN = 4864, kK = 896;
/// More than the last-level cache, so that decode reads memory as it does in a model.
constexpr size_t kDecodeBytes = 160 << 20;

enum class Reading { kQ4_0, kHigh, kQ8_0, kBoth };

/// Copies of one packed matrix, back to back; the planes of a nested one apart.
struct Copies {
  Buffer high, low;
  size_t high_bytes, low_bytes, n;
  PackedMatrix at(size_t i, const PackedMatrix& first) const {
    PackedMatrix out = first;
    out.data = high.data() + i * high_bytes;
    out.low = low_bytes == 0 ? nullptr : low.data() + i * low_bytes;
    return out;
  }
};

Buffer repeated(const std::byte* bytes, size_t n_bytes, size_t n) {
  auto out = Buffer::allocate(n_bytes * n, "benchmark");
  TANDEM_CHECK(out.has_value());
  for (size_t i = 0; i < n; ++i) std::memcpy(out->data() + i * n_bytes, bytes, n_bytes);
  return std::move(*out);
}

void run(benchmark::State& state, Isa isa, Reading reading, size_t m, uint32_t shift) {
  const testing::NestedMatrix file = testing::random_nested(kN, kK, shift, 1);
  const testing::GuardedNested nested(file);
  const testing::GuardedMatrix q8(testing::as_q8_0(file));
  const bool both = reading == Reading::kBoth, has_low = both || reading == Reading::kHigh;
  const PackedMatrix first = reading == Reading::kQ8_0 ? q8.view : nested.view;
  const LinearFn f = both ? select_nested(isa).run : select_linear(isa, first.type)->run;
  Copies copies{
      {}, {}, packed_bytes(first.type, kN, kK), has_low ? packed_low_bytes(kN, kK) : 0, 1};
  if (m <= 4) copies.n = kDecodeBytes / copies.high_bytes + 1;
  copies.high = repeated(first.data, copies.high_bytes, copies.n);
  if (has_low) copies.low = repeated(nested.view.low, copies.low_bytes, copies.n);

  const std::vector<float> x = testing::normal_values(m * kK, 2);
  testing::GuardedActivations xq(m, kK);
  select_quantize(isa).run({x.data(), kK * sizeof(float), m, kK, xq.get()});
  std::vector<float> y(m * kN);
  size_t copy = 0;
  const double start = bench::thread_seconds();
  for (auto _ : state) {
    f({.w = copies.at(copy, first),
       .x = nullptr,
       .x_stride = 0,
       .xq = xq.get(),
       .bias = nullptr,
       .y = y.data(),
       .y_stride = kN * sizeof(float),
       .m = m,
       .n_begin = 0,
       .n_end = kN});
    benchmark::ClobberMemory();
    copy = copy + 1 < copies.n ? copy + 1 : 0;
  }
  const double calls = static_cast<double>(state.iterations());
  const double seconds = bench::thread_seconds() - start;
  const size_t n_bytes = copies.high_bytes + (both ? copies.low_bytes : 0);
  state.counters["GMAC_per_s"] = 1e-9 * static_cast<double>(m * kN * kK) * calls / seconds;
  state.counters["GB_per_s"] = 1e-9 * static_cast<double>(n_bytes) * calls / seconds;
}

void add(Isa isa, Reading reading, const char* name, size_t m, uint32_t shift) {
  const std::string full =
      std::string("nested/") + name + "/" + to_string(isa) + "/n:4864/k:896/m:" + std::to_string(m);
  benchmark::RegisterBenchmark(
      full.c_str(), [=](benchmark::State& state) { run(state, isa, reading, m, shift); });
}

const int kRegistered = [] {
  for (const LinearRow& row : nested_rows()) {
    if (!testing::runs_here(row.isa)) continue;
    for (const size_t m : {1, 4, 8, 64, 512}) {
      if (row.isa == Isa::kScalar && m > 4) continue;
      add(row.isa, Reading::kQ4_0, "q4_0", m, 4);
      add(row.isa, Reading::kHigh, "high", m, 4);
      add(row.isa, Reading::kQ8_0, "q8_0", m, 4);
      add(row.isa, Reading::kBoth, "both_e4", m, 4);
      add(row.isa, Reading::kBoth, "both_e3", m, 3);
    }
  }
  return 0;
}();

}  // namespace
}  // namespace tandem::kernels
