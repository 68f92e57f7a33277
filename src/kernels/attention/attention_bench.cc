// Decode and prefill attention of one key/value head, of the shapes of small models. FLOP: two each
// for every query, seen position and element of key and value; bytes: the keys and values seen.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "kernels/attention/attention.h"
#include "tensor/f16.h"

namespace tandem::kernels {
namespace {

struct Shape {
  const char* model;
  size_t n_heads;
  size_t n_kv_heads;
  size_t head_size;
};
constexpr Shape kShapes[] = {{"qwen2.5_0.5b", 14, 2, 64}, {"llama3.2_1b", 32, 8, 64}};

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

/// A full cache of `n` positions and the last `n_rows` queries on it.
struct Workload {
  Workload(const Shape& shape, size_t n, size_t n_rows)
      : keys(n * shape.n_kv_heads * shape.head_size),
        values(keys.size()),
        q(n_rows * shape.n_heads * shape.head_size),
        out(q.size()) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (uint16_t& x : keys) x = f32_to_f16(normal(random));
    for (uint16_t& x : values) x = f32_to_f16(normal(random));
    for (float& x : q) x = normal(random);
    const size_t bytes =
        attention_scratch_bytes(shape.n_heads, shape.n_kv_heads, shape.head_size, shape.head_size);
    scratch.reset(static_cast<std::byte*>(std::aligned_alloc(64, bytes)));
    const size_t stride = shape.n_heads * shape.head_size * sizeof(float);
    args = {.q = q.data(),
            .out = out.data(),
            .q_stride = stride,
            .out_stride = stride,
            .first_position = n - n_rows,
            .row_begin = 0,
            .row_end = n_rows,
            .kv_head = 0,
            .n_heads = shape.n_heads,
            .window = 0,
            .scale = 0.125f,
            .softcap = 0.0f,
            .kv = {.keys = keys.data(),
                   .values = values.data(),
                   .capacity = n,
                   .n_kv_heads = shape.n_kv_heads,
                   .key_size = shape.head_size,
                   .value_size = shape.head_size},
            .scratch = scratch.get()};
  }
  std::vector<uint16_t> keys, values;
  std::vector<float> q, out;
  std::unique_ptr<std::byte, Free> scratch;
  AttentionArgs args;
};

void attend(benchmark::State& state, const AttentionRow& row, const Shape& shape, size_t n,
            size_t n_rows) {
  Workload work(shape, n, n_rows);
  for (auto _ : state) {
    for (size_t head = 0; head < shape.n_kv_heads; ++head) {
      work.args.kv_head = head;
      row.run(work.args);
    }
    benchmark::ClobberMemory();
  }
  const double first = static_cast<double>(n - n_rows + 1), last = static_cast<double>(n);
  const double seen = (first + last) / 2 * static_cast<double>(n_rows);
  const double flop = seen * static_cast<double>(4 * shape.head_size * shape.n_heads);
  const double bytes = last * static_cast<double>(4 * shape.head_size * shape.n_kv_heads);
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["FLOP/s"] = benchmark::Counter(flop, rate);
  state.counters["cache_B/s"] = benchmark::Counter(bytes, rate);
}

void write(benchmark::State& state, const AttentionRow& row, const Shape& shape, size_t n) {
  Workload work(shape, n, n);
  const size_t stride = shape.n_kv_heads * shape.head_size * sizeof(float);
  const KvWriteArgs args{.k = work.q.data(),
                         .v = work.q.data(),
                         .k_stride = stride,
                         .v_stride = stride,
                         .n_rows = n,
                         .first_position = 0,
                         .kv = work.args.kv};
  for (auto _ : state) {
    row.write(args);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * n * stride * 2));
}

bool runs_here(Isa isa) {
  const CpuFeatures cpu = CpuFeatures::detect();
  return isa == Isa::kScalar || (isa == Isa::kAvx2 && cpu.avx2) ||
         (isa == Isa::kAvx512Vnni && cpu.avx512_vnni);
}

void register_shape(const AttentionRow& row, const Shape& shape) {
  const std::string name = std::string(row.name) + "/" + shape.model;
  for (size_t n : {512, 4096}) {
    const std::string context = "/" + std::to_string(n);
    benchmark::RegisterBenchmark((name + "/decode" + context).c_str(),
                                 [&row, &shape, n](auto& s) { attend(s, row, shape, n, 1); });
    // The last 512 tokens: a chunk of a long prompt.
    benchmark::RegisterBenchmark((name + "/prefill_chunk_512" + context).c_str(), [&row, &shape,
                                                                                   n](auto& s) {
      attend(s, row, shape, n, 512);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark((name + "/write_512").c_str(),
                               [&row, &shape](auto& s) { write(s, row, shape, 512); });
}

}  // namespace
}  // namespace tandem::kernels

int main(int argc, char** argv) {
  using namespace tandem::kernels;
  for (const AttentionRow& row : attention_rows()) {
    // The scalar row is a reference, hundreds of times slower: nothing to learn from timing it.
    if (row.isa == Isa::kScalar || !runs_here(row.isa)) continue;
    for (const Shape& shape : kShapes) register_shape(row, shape);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
