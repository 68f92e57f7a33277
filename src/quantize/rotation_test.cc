// Rotated models compute the same function; what rotation is for gets better.

#include "quantize/rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "formats/gguf_source.h"
#include "formats/gguf_test_bytes.h"
#include "formats/gguf_writer.h"
#include "quantize/convert.h"
#include "quantize/hadamard.h"
#include "synth/synthesize.h"
#include "tests/support/slow_reference.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

using ::testing::HasSubstr;

TEST(Hadamard, IsOrthogonalForAnyLength) {
  for (const size_t n : {1u, 2u, 24u, 64u, 96u, 257u}) {
    const HadamardRotation rotation(n, 5);
    std::vector<float> matrix(n * n);
    for (size_t i = 0; i < n; ++i) matrix[i * n + i] = 1.0f;
    rotation.rotate_columns(matrix.data(), n);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        double product = 0;
        for (size_t k = 0; k < n; ++k) product += double{matrix[i * n + k]} * matrix[j * n + k];
        ASSERT_NEAR(product, i == j ? 1.0 : 0.0, 1e-6) << n;
      }
    }
  }
}

TEST(Hadamard, RowsAndColumnsRotateAlike) {
  const HadamardRotation rotation(48, 6);
  EXPECT_EQ(rotation.block(), 16u);
  std::vector<float> matrix(48 * 3), column(48);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < 48; ++i) column[i] = matrix[i * 3 + 1];
  rotation.rotate_columns(matrix.data(), 3);
  rotation.rotate(column.data());
  for (size_t i = 0; i < 48; ++i) EXPECT_EQ(matrix[i * 3 + 1], column[i]);
}

/// The weights of a tensor.
std::vector<float> values_of(const WeightSource& source, const std::string& name) {
  const size_t index = source.find(name).value();
  std::vector<float> out(source.tensors()[index].n_elements());
  EXPECT_TRUE(source.read_rows(index, 0, source.tensors()[index].n_rows(), out.data()));
  return out;
}

/// A tiny model whose norms are no plain ones and, in F32, its rotated twin.
struct Twins {
  TestFolder folder;
  std::string original, rotated;

  explicit Twins(const std::string& shape)
      : original(folder.path("original.gguf")), rotated(folder.path("rotated.gguf")) {
    const std::string plain = folder.path("plain.gguf");
    EXPECT_TRUE(synthesize(plain, {.shape = tiny_shape(shape),
                                   .types = WeightTypes(DType::kF32),
                                   .n_threads = 1,
                                   .mean_top_probability = 0.5}));
    write_with_uneven_norms(*source_of(plain), original);
    const auto source = source_of(original);
    const auto rotating = rotate_weights(*source);
    EXPECT_TRUE(rotating) << rotating.error().message;
    if (!rotating) return;
    ConvertOptions options{.n_threads = 2};
    options.formats.matrices = {DType::kF32, false};
    const auto report = convert(**rotating, rotated, (*rotating)->metadata(), options);
    EXPECT_TRUE(report) << report.error().message;
  }

  static void write_with_uneven_norms(const WeightSource& source, const std::string& path) {
    std::vector<std::vector<float>> all;
    std::vector<TensorToWrite> tensors;
    for (const SourceTensor& tensor : source.tensors()) {
      std::vector<float>& values = all.emplace_back(values_of(source, tensor.name));
      if (!tensor.name.ends_with("norm.weight")) continue;
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] *= 1.0f + 0.5f * std::sin(static_cast<float>(3 * i + tensor.name.size()));
      }
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const SourceTensor& tensor = source.tensors()[i];
      tensors.push_back({tensor.name, DType::kF32, tensor.dims, [&all, i] {
                           return Result<std::span<const std::byte>>(
                               std::as_bytes(std::span(all[i])));
                         }});
    }
    const auto written = write_gguf(path, source.metadata(), tensors);
    EXPECT_TRUE(written) << written.error().message;
  }
};

std::vector<std::vector<double>> exact_logits(const std::string& path,
                                              const std::vector<TokenId>& tokens) {
  const auto engine = make_engine(*Model::load(path));
  return slow_logits(engine->graph(Phase::kPrefill), tokens, Cache::kExact);
}

class Rotation : public ::testing::TestWithParam<const char*> {};

TEST_P(Rotation, KeepsTheFunction) {
  const Twins twins(GetParam());
  const auto tokens = some_tokens(30);
  // Without the cache's rounding to f16, which is another one for rotated values.
  const auto before = exact_logits(twins.original, tokens);
  const auto after = exact_logits(twins.rotated, tokens);
  double largest = 0, difference = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    for (size_t j = 0; j < before[i].size(); ++j) {
      largest = std::max(largest, std::fabs(before[i][j]));
      difference = std::max(difference, std::fabs(before[i][j] - after[i][j]));
    }
  }
  EXPECT_LT(difference, 1e-5 * largest);
  EXPECT_GT(difference, 0.0);  // the weights did change
  const auto source = source_of(twins.rotated);
  EXPECT_NE(values_of(*source, "blk.0.ffn_down.weight"),
            values_of(*source_of(twins.original), "blk.0.ffn_down.weight"));
  // The kernels agree as far as the cache allows.
  const auto run = all_logits(make_engine(*Model::load(twins.rotated)), tokens, 30);
  EXPECT_LT(normalized_mse(run, before), 1e-5);
  const auto ones = values_of(*source, "output_norm.weight");
  EXPECT_TRUE(std::ranges::all_of(ones, [](float x) { return x == 1.0f; }));
}

INSTANTIATE_TEST_SUITE_P(Architectures, Rotation,
                         ::testing::Values("llama", "qwen2", "qwen3", "phi3", "mistral3", "smollm3",
                                           "wide-heads", "narrow-values", "untied"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(RotationErrors, ArchitecturesThatNormWhatTheyAddAreRefused) {
  TestFolder folder;
  const std::string path = folder.path("gemma3.gguf");
  ASSERT_TRUE(synthesize(
      path, {.shape = tiny_shape("gemma3"), .types = WeightTypes(DType::kF32), .n_threads = 1}));
  const auto source = source_of(path);
  const auto rotated = rotate_weights(*source);
  ASSERT_FALSE(rotated);
  EXPECT_EQ(rotated.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(rotated.error().message, HasSubstr("gemma3"));
}

}  // namespace
}  // namespace tandem::testing
