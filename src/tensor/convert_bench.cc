// Decoding and encoding speed of every weight format, in weights a second: what converting a model
// costs, besides reading it.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "tensor/convert.h"
#include "tests/reference/ggml_blocks/block_vectors.h"

namespace tandem {
namespace {

void count_weights(benchmark::State& state, size_t n) {
  state.counters["weights/s"] =
      benchmark::Counter(static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate);
}

void decode_benchmark(benchmark::State& state, DType type) {
  std::vector<float> values = block_vectors::weights("normal");
  std::vector<std::byte> row(row_bytes(type, values.size()));
  encode_row(type, values.data(), row.data(), values.size());
  for (auto _ : state) {
    decode_row(type, row.data(), values.data(), values.size());
    benchmark::ClobberMemory();
  }
  count_weights(state, values.size());
}

void encode_benchmark(benchmark::State& state, DType type) {
  const std::vector<float> values = block_vectors::weights("normal");
  std::vector<std::byte> row(row_bytes(type, values.size()));
  for (auto _ : state) {
    encode_row(type, values.data(), row.data(), values.size());
    benchmark::ClobberMemory();
  }
  count_weights(state, values.size());
}

const bool kRegistered = [] {
  for (const DTypeInfo& i : all_dtypes()) {
    if (!holds_weights(i.type)) continue;
    benchmark::RegisterBenchmark(
        ("decode/" + std::string(i.name)).c_str(),
        [type = i.type](benchmark::State& state) { decode_benchmark(state, type); });
    benchmark::RegisterBenchmark(
        ("encode/" + std::string(i.name)).c_str(),
        [type = i.type](benchmark::State& state) { encode_benchmark(state, type); });
  }
  return true;
}();

}  // namespace
}  // namespace tandem
