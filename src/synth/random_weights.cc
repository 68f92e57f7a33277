// Random weights, reproducible row by row.

#include "synth/random_weights.h"

#include <cmath>

#include "base/hash.h"

namespace tandem {
namespace {

constexpr uint32_t kOutlierChannels = 3;
constexpr float kOutlierGain = 60.0f;
constexpr double kTwoPi = 6.283185307179586;

/// SplitMix64 (Steele, Lea, Flood 2014): any seed is a good start, so each row has its own.
class RandomRow {
 public:
  explicit RandomRow(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  /// Zero mean, variance 1, tails heavier than a normal's: the sum of three uniform numbers,
  /// stretched by a factor between 0.5 and 2.
  float heavy_normal() {
    const uint64_t bits = next();
    const auto part = [&](int shift) { return static_cast<float>(bits >> shift & 0xffff); };
    const float sum = (part(0) + part(16) + part(32)) * (1.0f / 65536.0f) - 1.5f;
    const float stretch = 0.5f + 1.5f * part(48) * part(48) * (1.0f / 4294967296.0f);
    return sum * stretch * kUnitVariance;
  }

 private:
  // 1 / sqrt(Var(sum) E(stretch^2)) = 1 / sqrt(1/4 * (1/4 + 1/2 + 9/20))
  static constexpr float kUnitVariance = 1.825742f;
  uint64_t state_;
};

uint64_t row_seed(uint64_t seed, std::string_view name, uint64_t row) {
  return content_hash(std::as_bytes(std::span(name)), seed * 0x9e3779b97f4a7c15ull + row);
}

/// Where the lifted channels of a norm lie: the same in every layer, as in trained models.
bool is_outlier(uint64_t channel, uint64_t n_channels) {
  for (uint64_t i = 0; i < kOutlierChannels; ++i) {
    if (channel == (2 * i + 1) * n_channels / (2 * kOutlierChannels)) return true;
  }
  return false;
}

bool lifts_channels(std::string_view name) {
  return name.ends_with("attn_norm.weight") || name.ends_with("ffn_norm.weight");
}

/// Columns that meet a lifted channel are small, so that these channels matter but do not drown
/// the others.
bool reads_lifted_channels(std::string_view name) {
  return name.find(".attn_q") != name.npos || name.find(".attn_k") != name.npos ||
         name.find(".attn_v") != name.npos || name.find(".ffn_gate") != name.npos ||
         name.find(".ffn_up") != name.npos;
}

}  // namespace

/// Small beside what the layers add: where the embedding is also the head, a token would otherwise
/// predict itself.
float RandomWeights::embedding_spread() const {
  const bool scaled_by_model = shape_.architecture.starts_with("gemma");
  return 0.05f / (scaled_by_model ? std::sqrt(static_cast<float>(shape_.width)) : 1.0f);
}

void RandomWeights::fill_norm(const ListedTensor& tensor, std::span<float> out) const {
  RandomRow random(row_seed(seed_, tensor.name, 0));
  const bool lifts = lifts_channels(tensor.name) && out.size() >= 64;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = 1.0f + 0.2f * random.heavy_normal();
    if (lifts && is_outlier(i, out.size())) out[i] *= kOutlierGain;
    // Logits of about unit spread: a soft cap would hide how large they were.
    if (tensor.name == "output_norm.weight") {
      out[i] /= std::sqrt(static_cast<float>(out.size())) * embedding_spread();
    }
  }
}

void RandomWeights::fill_divisors(const ListedTensor& tensor, std::span<float> out) const {
  if (tensor.name == "rope_freqs.weight") {
    // Llama 3.1's scaling: low 1, high 4 (Hugging Face transformers, rope_type "llama3").
    const double original = shape_.original_context;
    for (size_t p = 0; p < out.size(); ++p) {
      const double exponent =
          2.0 * static_cast<double>(p) / (2.0 * static_cast<double>(out.size()));
      const double wavelength = kTwoPi * std::pow(static_cast<double>(shape_.rope_base), exponent);
      const double smooth = (original / wavelength - 1.0) / 3.0;
      const double keep = std::min(1.0, std::max(0.0, smooth));
      out[p] = static_cast<float>(1.0 / ((1.0 - keep) / shape_.llama3_factor + keep));
    }
    return;
  }
  const bool is_long = tensor.name == "rope_factors_long.weight";
  for (size_t p = 0; p < out.size(); ++p) {
    const float depth = static_cast<float>(p) / static_cast<float>(out.size());
    out[p] = is_long ? 1.0f + 40.0f * depth * depth : 1.0f + 0.5f * depth;
  }
}

void RandomWeights::fill_row(const ListedTensor& tensor, uint64_t row, std::span<float> out) const {
  if (tensor.role == TensorRole::kNorm) return fill_norm(tensor, out);
  if (tensor.role == TensorRole::kRopeDivisors) return fill_divisors(tensor, out);
  float spread = 1.0f / std::sqrt(static_cast<float>(out.size()));
  if (tensor.role == TensorRole::kEmbedding) spread = embedding_spread();
  if (tensor.role == TensorRole::kBias) spread = 0.1f;
  if (tensor.role == TensorRole::kResidualMatrix) {
    spread /= std::sqrt(2.0f * static_cast<float>(shape_.n_layers));
  }
  RandomRow random(row_seed(seed_, tensor.name, row));
  for (float& x : out) x = spread * random.heavy_normal();
  if (tensor.role != TensorRole::kMatrix || !reads_lifted_channels(tensor.name)) return;
  if (out.size() != shape_.width || out.size() < 64) return;
  for (size_t i = 0; i < out.size(); ++i) {
    if (is_outlier(i, out.size())) out[i] *= 1.0f / 16.0f;
  }
}

}  // namespace tandem
