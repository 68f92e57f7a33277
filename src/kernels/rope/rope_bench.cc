// Rotary embedding of one token's query heads, both pair styles.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/rope/rope.h"
#include "tests/support/kernel_rows.h"

namespace tandem::kernels {
namespace {

void run(benchmark::State& state, const RopeRow& row, RopePairs pairs) {
  constexpr size_t kHeads = 14, kHeadSize = 64;
  std::vector<float> x(kHeads * kHeadSize, 0.5f), cos(kHeadSize / 2, 0.8f),
      sin(kHeadSize / 2, 0.6f);
  const RopeArgs args{x.data(), cos.data(), sin.data(), kHeads, kHeadSize, kHeadSize, pairs};
  for (auto _ : state) {
    row.run(args);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * x.size() * 2 * sizeof(float)));
}

const bool kRegistered = [] {
  for (const RopeRow& row : rope_rows()) {
    if (!testing_support::runs_here(row.isa)) continue;
    for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kAdjacent}) {
      const std::string name =
          std::string(row.name) + (pairs == RopePairs::kHalves ? "/halves" : "/adjacent");
      benchmark::RegisterBenchmark(
          name.c_str(), [&row, pairs](benchmark::State& state) { run(state, row, pairs); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace tandem::kernels
