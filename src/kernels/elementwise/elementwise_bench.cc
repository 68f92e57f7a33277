// The functions a decoder layer spends its elementwise time in, at the sizes of a 0.5B model.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "tests/support/kernel_rows.h"

namespace tandem::kernels {
namespace {

constexpr size_t kWidth = 896, kHidden = 4864;

template <class Body>
void add_benchmark(const ElementwiseRow& row, const char* function, size_t n, int n_streams,
                   const Body& body) {
  const std::string name = std::string(row.name) + "/" + function + "/" + std::to_string(n);
  benchmark::RegisterBenchmark(name.c_str(), [=, &row](benchmark::State& state) {
    std::vector<float> a(n), b(n, 0.5f), y(n);
    for (size_t i = 0; i < n; ++i) a[i] = static_cast<float>(i % 17) - 8.0f;
    for (auto _ : state) {
      body(row, a.data(), b.data(), y.data(), n);
      benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(
        static_cast<int64_t>(state.iterations() * n * n_streams * sizeof(float)));
  });
}

using Row = ElementwiseRow;

const bool kRegistered = [] {
  for (const Row& row : elementwise_rows()) {
    if (!testing_support::runs_here(row.isa)) continue;
    add_benchmark(row, "add", kWidth, 3,
                  [](const Row& r, const float* a, const float* b, float* y, size_t n) {
                    r.add(a, b, y, n);
                  });
    add_benchmark(row, "silu", kHidden, 3,
                  [](const Row& r, const float* a, const float* b, float* y, size_t n) {
                    r.glu(Activation::kSilu, a, b, y, n);
                  });
    add_benchmark(row, "gelu_tanh", kHidden, 3,
                  [](const Row& r, const float* a, const float* b, float* y, size_t n) {
                    r.glu(Activation::kGeluTanh, a, b, y, n);
                  });
    add_benchmark(row, "softcap", kHidden, 2,
                  [](const Row& r, const float* a, const float*, float* y, size_t n) {
                    r.softcap(a, 30.0f, y, n);
                  });
    add_benchmark(row, "all_finite", kHidden, 1,
                  [](const Row& r, const float* a, const float*, float*, size_t n) {
                    benchmark::DoNotOptimize(r.all_finite(a, n));
                  });
  }
  return true;
}();

}  // namespace
}  // namespace tandem::kernels
