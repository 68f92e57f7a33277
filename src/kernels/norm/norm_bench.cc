// RMS norm of one token and of a prefill block. Bytes: x read twice from cache counts once, y once.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/norm/norm.h"
#include "tests/support/kernel_rows.h"

namespace tandem::kernels {
namespace {

void run(benchmark::State& state, const RmsNormRow& row, size_t n_rows, size_t n) {
  std::vector<float> x(n_rows * n, 0.5f), weight(n, 1.5f), y(n_rows * n);
  const RmsNormArgs args{x.data(), weight.data(),     y.data(),          n_rows,
                         n,        n * sizeof(float), n * sizeof(float), 1e-6f};
  for (auto _ : state) {
    row.run(args);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(
      static_cast<int64_t>(state.iterations() * n_rows * n * 2 * sizeof(float)));
}

const bool kRegistered = [] {
  for (const RmsNormRow& row : rms_norm_rows()) {
    if (!testing_support::runs_here(row.isa)) continue;
    for (const size_t n_rows : {1, 64}) {
      for (const size_t n : {896, 4864}) {
        const std::string name =
            std::string(row.name) + "/" + std::to_string(n_rows) + "x" + std::to_string(n);
        benchmark::RegisterBenchmark(name.c_str(), [&row, n_rows, n](benchmark::State& state) {
          run(state, row, n_rows, n);
        });
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace tandem::kernels
