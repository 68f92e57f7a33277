// Hugging Face and MLC folders of every architecture, written by write_checkpoint.py from the
// formats' definitions, read back: each tensor bit for bit what the script says, and the logits of
// the folder those of the script's own GGUF file.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "formats/gguf_reader.h"
#include "model/hyperparameters.h"
#include "sources/open_weight_source.h"
#include "synth/synthesize.h"
#include "tensor/convert.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

namespace fs = std::filesystem;

struct RoundTripCase {
  std::string shape;  ///< of tiny_model.h, or "demo"
  std::string format;
  std::string type;
  int shards = 1;
};

std::string test_name(const ::testing::TestParamInfo<RoundTripCase>& info) {
  std::string name = info.param.shape + "_" + info.param.format + "_" + info.param.type;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// The folders of all cases, each written once.
class Folders {
 public:
  ~Folders() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  fs::path of(const RoundTripCase& c) {
    const fs::path folder = root_ / fmt::format("{}-{}-{}", c.shape, c.format, c.type);
    if (!fs::exists(folder)) write(c, folder);
    return folder;
  }

 private:
  void write(const RoundTripCase& c, const fs::path& folder) {
    fs::create_directories(folder);
    std::string model = TANDEM_SOURCE_DIR "/models/demo/demo-f16.gguf";
    if (c.shape != "demo") {
      model = folder / "original.gguf.tmp";
      const auto written = synthesize(model, {.shape = tiny_shape(c.shape),
                                              .types = WeightTypes(DType::kF32),
                                              .seed = 7,
                                              .n_threads = 1,
                                              .mean_top_probability = 0});
      ASSERT_TRUE(written) << written.error().message;
    }
    const std::string command = fmt::format(
        "{} -B {}/tests/sources/write_checkpoint.py '{}' '{}' --format {} --type {} --shards {} {}",
        TANDEM_PYTHON, TANDEM_SOURCE_DIR, model, folder.string(), c.format, c.type, c.shards,
        c.shape == "demo" ? "--layers 1" : "");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  const fs::path root_ =
      fs::path(::testing::TempDir()) / fmt::format("tandem-round-trip-{}", getpid());
};

class RoundTrip : public ::testing::TestWithParam<RoundTripCase> {
 protected:
  void SetUp() override {
    static Folders folders;
    folder_ = folders.of(GetParam());
  }

  std::unique_ptr<const WeightSource> open_source() {
    WeightSourceOptions options;
    options.log = [](LogLevel, std::string_view message) {
      if (message.find("no tokenizer.json") == message.npos) ADD_FAILURE() << message;
    };
    auto source = open_weight_source(folder_, options);
    if (!source) ADD_FAILURE() << source.error().message;
    return source ? std::move(*source) : nullptr;
  }
  ModelFile expected() {
    auto file = open_gguf(folder_ / "expected.gguf");
    if (!file) ADD_FAILURE() << file.error().message;
    return file ? *std::move(file) : ModelFile();
  }

  fs::path folder_;
};

std::vector<float> decoded(const TensorView& view) {
  std::vector<float> out(view.n_elements());
  decode_row(view.type, view.bytes.data(), out.data(), out.size());
  return out;
}

TEST_P(RoundTrip, TensorsAreBitForBitWhatTheFormatDefines) {
  const auto source = open_source();
  ASSERT_NE(source, nullptr);
  const ModelFile file = expected();
  ASSERT_EQ(source->tensors().size(), file.tensors.size());
  for (const TensorView& view : file.tensors) {
    SCOPED_TRACE(view.name);
    const auto index = source->find(view.name);
    ASSERT_TRUE(index.has_value());
    const SourceTensor& tensor = source->tensors()[*index];
    ASSERT_EQ(tensor.dims, view.dims);
    const std::vector<float> wanted = decoded(view);
    std::vector<float> rows(wanted.size(), -1.0f);
    ASSERT_TRUE(source->read_rows(*index, 0, tensor.n_rows(), rows.data()).has_value());
    if (view.name == "rope_freqs.weight") {
      // The file's own come from another program; ours are rounded from double.
      for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], wanted[i], 1e-5f * wanted[i]);
      continue;
    }
    EXPECT_EQ(rows, wanted);
    std::vector<float> last(tensor.row_length());
    ASSERT_TRUE(source->read_rows(*index, tensor.n_rows() - 1, 1, last.data()).has_value());
    EXPECT_TRUE(
        std::equal(last.begin(), last.end(), wanted.end() - static_cast<long>(last.size())));
    EXPECT_EQ(name(tensor.exact_type), name(view.type));
    std::vector<std::byte> exact(row_bytes(tensor.exact_type, tensor.row_length()) *
                                 tensor.n_rows());
    ASSERT_TRUE(source->read_exact(*index, 0, tensor.n_rows(), exact.data()).has_value());
    EXPECT_TRUE(std::equal(exact.begin(), exact.end(), view.bytes.begin(), view.bytes.end()));
  }
}

TEST_P(RoundTrip, HyperparametersAreTheOriginal) {
  const auto file = open_model_file(folder_);
  ASSERT_TRUE(file) << file.error().message;
  const auto got = Hyperparameters::read(*file);
  ASSERT_TRUE(got) << got.error().message;
  const auto original = Hyperparameters::read(expected());
  ASSERT_TRUE(original) << original.error().message;
  EXPECT_EQ(got->architecture, original->architecture);
  EXPECT_EQ(got->n_layers, original->n_layers);
  EXPECT_EQ(got->width, original->width);
  EXPECT_EQ(got->n_heads, original->n_heads);
  EXPECT_EQ(got->n_kv_heads, original->n_kv_heads);
  EXPECT_EQ(got->key_size, original->key_size);
  EXPECT_EQ(got->value_size, original->value_size);
  EXPECT_EQ(got->ffn_width, original->ffn_width);
  EXPECT_EQ(got->vocabulary, original->vocabulary);
  EXPECT_EQ(got->context_length, original->context_length);
  EXPECT_EQ(got->norm_epsilon, original->norm_epsilon);
  EXPECT_EQ(got->n_rotated, original->n_rotated);
  EXPECT_EQ(got->rope_base, original->rope_base);
  EXPECT_EQ(got->window, original->window);
  EXPECT_EQ(got->rope_scaling.factor, original->rope_scaling.factor);
}

TEST_P(RoundTrip, LogitsAreThoseOfTheDefinition) {
  const auto tokens = some_tokens(20);
  std::vector<std::vector<std::vector<float>>> logits;
  for (const std::string& path : {folder_.string(), (folder_ / "expected.gguf").string()}) {
    const auto model = Model::load(path);
    ASSERT_TRUE(model) << model.error().message;
    logits.push_back(all_logits(make_engine(*model), tokens, 7));
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(logits[0][i].size(), logits[1][i].size());
    for (size_t j = 0; j < logits[0][i].size(); ++j) {
      ASSERT_EQ(logits[0][i][j], logits[1][i][j]) << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    HuggingFace, RoundTrip,
    ::testing::Values(RoundTripCase{"llama", "hf", "f32"},
                      RoundTripCase{"llama-llama3", "hf", "bf16"},
                      RoundTripCase{"untied", "hf", "f16", 3},
                      RoundTripCase{"wide-heads", "hf", "f32"},
                      RoundTripCase{"mistral3", "hf", "bf16"},
                      RoundTripCase{"smollm3", "hf", "f16"}, RoundTripCase{"qwen2", "hf", "bf16"},
                      RoundTripCase{"qwen3", "hf", "f32", 2}, RoundTripCase{"gemma2", "hf", "bf16"},
                      RoundTripCase{"gemma3", "hf", "bf16"}, RoundTripCase{"phi3", "hf", "f16"},
                      RoundTripCase{"bitnet", "hf", "ternary"}, RoundTripCase{"demo", "hf", "f16"}),
    test_name);
INSTANTIATE_TEST_SUITE_P(Mlc, RoundTrip,
                         ::testing::Values(RoundTripCase{"llama", "mlc", "q4f16_1"},
                                           RoundTripCase{"llama", "mlc", "q4f16_0"},
                                           RoundTripCase{"untied", "mlc", "q4f16_0"},
                                           RoundTripCase{"llama", "mlc", "q3f16_1"},
                                           RoundTripCase{"qwen2", "mlc", "q4f32_1"},
                                           RoundTripCase{"qwen2", "mlc", "q0f16"},
                                           RoundTripCase{"qwen3", "mlc", "q4f16_1"},
                                           RoundTripCase{"gemma2", "mlc", "q0f32"},
                                           RoundTripCase{"gemma3", "mlc", "q4f16_1"},
                                           RoundTripCase{"phi3", "mlc", "q4f16_1"},
                                           RoundTripCase{"demo", "mlc", "q4f16_1"}),
                         test_name);

}  // namespace
}  // namespace tandem::testing
