// Speed of every row on the shapes of Qwen2.5-0.5B and Llama-3.2-1B, as GMAC/s, GB/s of packed
// weights and percent of the nearer roof of one thread. For instance
//   linear_bench --benchmark_filter='linear_q4_0.*avx512.*/m:512'

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "base/buffer.h"
#include "base/check.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/linear_bench_roof.h"
#include "kernels/linear/linear_testing.h"

namespace tandem::kernels {
namespace {

struct Shape {
  size_t n, k;
};
constexpr Shape kShapes[] = {{896, 896},   {4864, 896},  {896, 4864}, {151936, 896},
                             {2048, 2048}, {8192, 2048}, {2048, 8192}};
constexpr size_t kBatches[] = {1, 4, 8, 16, 64, 512};
/// More than the last-level cache, so that decode reads memory as it does in a model.
constexpr size_t kDecodeBytes = 160 << 20;

Buffer allocate(size_t n_bytes) {
  auto buffer = Buffer::allocate(n_bytes, "benchmark");
  TANDEM_CHECK(buffer.has_value());
  return std::move(*buffer);
}

/// `copies` matrices one after the other, all of the same tile.
Buffer packed_copies(DType type, Shape shape, size_t copies) {
  const testing::FileMatrix file = testing::normal_matrix(type, kTileRows, shape.k, 1);
  const size_t tile_bytes = packed_bytes(type, kTileRows, shape.k);
  Buffer out = allocate(packed_bytes(type, shape.n, shape.k) * copies);
  pack_rows(type, file.bytes.data(), kTileRows, shape.k, 0, kTileRows, out.data());
  for (size_t at = tile_bytes; at < out.size(); at += tile_bytes) {
    std::memcpy(out.data() + at, out.data(), tile_bytes);
  }
  return out;
}

/// One call's work.
struct Work {
  double roof_gmac;
  size_t m;
  double macs, weight_bytes;
};

/// Multiply-adds a second, in 10^9, of the instruction that the row is made of (AMX: of the
/// vectors').
double roof_gmac(const LinearRow& row) {
  const bench::Roof& roof = bench::roof();
  if (uses_quantized_activations(row.type)) return roof.gmac_int8;
  const bool by_pairs = row.type == DType::kBF16 && row.isa >= Isa::kAvx512Bf16;
  return by_pairs ? roof.gmac_bf16 : roof.gmac_float32;
}

void report(benchmark::State& state, const Work& work, double seconds) {
  const double calls = static_cast<double>(state.iterations());
  const double gmac = 1e-9 * work.macs * calls / seconds;
  const double gbytes = 1e-9 * work.weight_bytes * calls / seconds;
  const bench::Roof& roof = bench::roof();
  const double compute = gmac / work.roof_gmac;
  // Weights count against bandwidth only when they come from memory.
  const double share = work.m <= 4 ? std::max(compute, gbytes / roof.read_gbytes) : compute;
  state.counters["GMAC_per_s"] = gmac;
  state.counters["GB_per_s"] = gbytes;
  state.counters["roof_percent"] = 100 * share;
}

void run_linear(benchmark::State& state, const LinearRow& row, Shape shape, size_t m) {
  const size_t n_bytes = packed_bytes(row.type, shape.n, shape.k);
  const size_t copies = m <= 4 ? (kDecodeBytes + n_bytes - 1) / n_bytes : 1;
  const Buffer weights = packed_copies(row.type, shape, copies);
  const std::vector<float> x = testing::normal_values(m * shape.k, 2);
  Buffer y = allocate(m * shape.n * sizeof(float));
  testing::GuardedActivations xq(m, uses_quantized_activations(row.type) ? shape.k : 0);
  if (uses_quantized_activations(row.type)) {
    select_quantize(row.isa).run({x.data(), shape.k * sizeof(float), m, shape.k, xq.get()});
  }
  size_t copy = 0;
  const double start = bench::thread_seconds();
  for (auto _ : state) {
    row.run({.w = {row.type, shape.n, shape.k, weights.data() + copy * n_bytes},
             .x = x.data(),
             .x_stride = shape.k * sizeof(float),
             .xq = xq.get(),
             .bias = nullptr,
             .y = reinterpret_cast<float*>(y.data()),
             .y_stride = shape.n * sizeof(float),
             .m = m,
             .n_begin = 0,
             .n_end = shape.n});
    benchmark::ClobberMemory();
    copy = copy + 1 < copies ? copy + 1 : 0;
  }
  const Work work{roof_gmac(row), m, static_cast<double>(m * shape.n * shape.k),
                  static_cast<double>(n_bytes)};
  report(state, work, bench::thread_seconds() - start);
}

void run_quantize(benchmark::State& state, const QuantizeRow& row, size_t m, size_t k) {
  const std::vector<float> x = testing::normal_values(m * k, 3);
  testing::GuardedActivations xq(m, k);
  for (auto _ : state) {
    row.run({x.data(), k * sizeof(float), m, k, xq.get()});
    benchmark::ClobberMemory();
  }
  state.counters["elements/s"] =
      benchmark::Counter(static_cast<double>(m * k), benchmark::Counter::kIsIterationInvariantRate);
}

void run_pack(benchmark::State& state, DType type) {
  constexpr Shape kShape{512, 4096};
  const testing::FileMatrix file = testing::random_bytes_matrix(type, kShape.n, kShape.k, 4);
  Buffer packed = allocate(packed_bytes(type, kShape.n, kShape.k));
  for (auto _ : state) {
    pack_rows(type, file.bytes.data(), kShape.n, kShape.k, 0, kShape.n, packed.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * file.bytes.size()));
}

bool slow(const LinearRow& row, size_t m) { return row.isa == Isa::kScalar && m > 16; }

void register_linear(const LinearRow& row, Shape shape) {
  for (const size_t m : kBatches) {
    if (slow(row, m) || (shape.n > 100000 && m > 4)) continue;
    const std::string name = std::string(row.name) + "/n:" + std::to_string(shape.n) +
                             "/k:" + std::to_string(shape.k) + "/m:" + std::to_string(m);
    benchmark::RegisterBenchmark(name.c_str(), [&row, shape, m](benchmark::State& state) {
      run_linear(state, row, shape, m);
    });
  }
}

const int kRegistered = [] {
  for (const LinearRow& row : linear_rows()) {
    if (!testing::runs_here(row.isa)) continue;
    for (const Shape shape : kShapes) {
      if (shape.k % info(row.type).block_size == 0) register_linear(row, shape);
    }
  }
  for (const QuantizeRow& row : quantize_rows()) {
    if (!testing::runs_here(row.isa)) continue;
    for (const size_t m : {1, 64}) {
      const std::string name = std::string(row.name) + "/k:4864/m:" + std::to_string(m);
      benchmark::RegisterBenchmark(
          name.c_str(), [&row, m](benchmark::State& state) { run_quantize(state, row, m, 4864); });
    }
  }
  for (const DType type : testing::weight_types()) {
    benchmark::RegisterBenchmark(("pack/" + std::string(name(type))).c_str(),
                                 [type](benchmark::State& state) { run_pack(state, type); });
  }
  return 0;
}();

}  // namespace
}  // namespace tandem::kernels
