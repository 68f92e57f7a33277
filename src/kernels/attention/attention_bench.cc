// Decode and prefill attention of one key/value head, of the shapes of small models. FLOP: two each
// for every query, seen position and element of key and value; bytes: the keys and values seen.

#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "kernels/attention/attention.h"
#include "tensor/f16.h"
#include "tests/support/kernel_rows.h"

namespace tandem::kernels {
namespace {

struct Shape {
  const char* model;
  size_t n_heads;
  size_t n_kv_heads;
  size_t head_size;
};
constexpr Shape kShapes[] = {{"qwen2.5_0.5b", 14, 2, 64}, {"llama3.2_1b", 32, 8, 64}};

/// Keys of more layers than any processor's cache holds: 128 MiB as f16, and the values as much.
constexpr size_t kColdElements = size_t{64} << 20;

Buffer buffer(size_t n_bytes) { return std::move(Buffer::allocate(n_bytes, "benchmark").value()); }

/// A full cache of `n` positions in each of `n_layers`, and the last `n_rows` queries on it.
struct Workload {
  Workload(const Shape& shape, size_t n, size_t n_rows, size_t n_layers)
      : size(n_layers * n * shape.n_kv_heads * shape.head_size),
        cache(buffer(2 * size * sizeof(uint16_t))),
        scratch(buffer(attention_scratch_bytes(shape.n_heads, shape.n_kv_heads, shape.head_size,
                                               shape.head_size))),
        q(n_rows * shape.n_heads * shape.head_size),
        out(q.size()),
        scales(2 * size / shape.head_size, 0.02f) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<uint16_t> noise(65521);
    for (uint16_t& x : noise) x = f32_to_f16(normal(random));
    uint16_t* elements = cache.as<uint16_t>();
    for (size_t i = 0; i < 2 * size; ++i) elements[i] = noise[i % noise.size()];
    for (float& x : q) x = normal(random);
    // As int8 the noise is codes of all sizes: any bits are some code.
    int8_t* codes = cache.as<int8_t>();
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
            .kv = {.keys = elements,
                   .values = elements + size,
                   .capacity = n,
                   .n_kv_heads = shape.n_kv_heads,
                   .key_size = shape.head_size,
                   .value_size = shape.head_size,
                   .key_codes = codes,
                   .value_codes = codes + size,
                   .key_scales = scales.data(),
                   .value_scales = scales.data() + size / shape.head_size},
            .scratch = scratch.data()};
  }
  size_t size;  ///< elements of all layers' keys, and of their values behind
  Buffer cache, scratch;
  std::vector<float> q, out, scales;
  AttentionArgs args;

  /// The cache `layers` layers of `layer_size` elements after the first.
  KvView layer(size_t layers, size_t layer_size) const {
    KvView kv = args.kv;
    kv.keys += layers * layer_size;
    kv.values += layers * layer_size;
    kv.key_codes += layers * layer_size;
    kv.value_codes += layers * layer_size;
    kv.key_scales += layers * layer_size / kv.key_size;
    kv.value_scales += layers * layer_size / kv.key_size;
    return kv;
  }
};

/// Layer after layer, as a model does: decode finds no layer's cache in the processor's.
void attend(benchmark::State& state, const AttentionRow& row, const Shape& shape, size_t n,
            size_t n_rows) {
  const size_t layer_size = n * shape.n_kv_heads * shape.head_size;
  const size_t n_layers = n_rows > 1 ? 1 : kColdElements / layer_size;
  Workload work(shape, n, n_rows, n_layers);
  AttentionArgs args = work.args;
  size_t layer = 0;
  for (auto _ : state) {
    args.kv = work.layer(layer, layer_size);
    layer = (layer + 1) % n_layers;
    for (args.kv_head = 0; args.kv_head < shape.n_kv_heads; ++args.kv_head) row.run(args);
    benchmark::ClobberMemory();
  }
  const double first = static_cast<double>(n - n_rows + 1), last = static_cast<double>(n);
  const double seen = (first + last) / 2 * static_cast<double>(n_rows);
  const double flop = seen * static_cast<double>(4 * shape.head_size * shape.n_heads);
  const size_t vector_bytes =
      row.storage == KvStorage::kF16 ? 2 * shape.head_size : shape.head_size + sizeof(float);
  const double bytes = last * static_cast<double>(2 * vector_bytes * shape.n_kv_heads);
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["FLOP/s"] = benchmark::Counter(flop, rate);
  state.counters["cache_B/s"] = benchmark::Counter(bytes, rate);
}

void write(benchmark::State& state, const AttentionRow& row, const Shape& shape, size_t n) {
  Workload work(shape, n, n, 1);
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

/// The roof of decode: what one thread reads from memory.
void read_memory(benchmark::State& state) {
  Workload work({"", 1, 1, 64}, kColdElements / 64, 1, 1);
  const uint64_t* words = work.cache.as<uint64_t>();
  const size_t n_words = work.cache.size() / sizeof(uint64_t);
  for (auto _ : state) {
    uint64_t sums[8] = {};
    for (size_t i = 0; i < n_words; i += 8) {
      for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
    }
    benchmark::DoNotOptimize(sums);
  }
  state.counters["cache_B/s"] = benchmark::Counter(static_cast<double>(work.cache.size()),
                                                   benchmark::Counter::kIsIterationInvariantRate);
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
    if (row.isa == Isa::kScalar || !tandem::testing_support::runs_here(row.isa)) continue;
    for (const Shape& shape : kShapes) register_shape(row, shape);
  }
  benchmark::RegisterBenchmark("memory_read", read_memory)->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
