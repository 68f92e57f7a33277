// Time to choose one token from the logits of a 151,936-token vocabulary (Qwen).

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "engine/sampling/sampler.h"

namespace tandem {
namespace {

constexpr int32_t kVocab = 151936;

/// A normal tail with a spread of 2.5 and a head of 100 tokens whose probabilities fall like 1/rank
/// and hold 97 % of the mass: an uncertain moment of a trained model.
std::vector<float> model_logits() {
  Random random(1);
  std::vector<float> logits(kVocab);
  for (float& x : logits) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    x = static_cast<float>(2.5 * radius * std::cos(6.283185307179586 * random.uniform()));
  }
  for (int rank = 1; rank <= 100; ++rank) {
    logits[rank * 1500] = 17 - std::log(static_cast<float>(rank));
  }
  return logits;
}

void sample(benchmark::State& state, const SamplingOptions& options) {
  auto sampler = Sampler::create(options, kVocab, 4096);
  if (!sampler) return state.SkipWithError(sampler.error().message.c_str());
  const std::vector<float> model = model_logits();
  std::vector<float> logits = model;
  for (auto _ : state) {
    const auto token = sampler->sample(logits);
    if (!token || !sampler->accept(token->id)) return state.SkipWithError("no token");
    benchmark::DoNotOptimize(token->id);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * kVocab * 4);
}

void BM_Greedy(benchmark::State& state) { sample(state, {.temperature = 0}); }
void BM_Default(benchmark::State& state) { sample(state, {.seed = 1}); }
void BM_TopPAlone(benchmark::State& state) { sample(state, {.top_k = 0, .min_p = 0, .seed = 1}); }
void BM_Unfiltered(benchmark::State& state) {
  sample(state, {.top_k = 0, .top_p = 1, .min_p = 0, .seed = 1});
}
void BM_TopLogprobs(benchmark::State& state) {
  sample(state, {.seed = 1, .logprobs = true, .top_logprobs = 20});
}
BENCHMARK(BM_Greedy);
BENCHMARK(BM_Default);
BENCHMARK(BM_TopPAlone);
BENCHMARK(BM_Unfiltered);
BENCHMARK(BM_TopLogprobs);

/// The peer to beat: sorting the whole vocabulary.
void BM_FullSortForComparison(benchmark::State& state) {
  const std::vector<float> model = model_logits();
  std::vector<std::pair<float, TokenId>> pairs(kVocab);
  for (auto _ : state) {
    for (int32_t id = 0; id < kVocab; ++id) pairs[id] = {-model[id], id};
    std::sort(pairs.begin(), pairs.end());
    benchmark::DoNotOptimize(pairs.data());
  }
}
BENCHMARK(BM_FullSortForComparison);

}  // namespace
}  // namespace tandem
