#include "sources/huggingface/huggingface_source.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "formats/gguf_test_bytes.h"
#include "formats/source_model_file.h"
#include "sources/checkpoint_test_files.h"
#include "sources/row_reader.h"

namespace tandem {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A Llama of one layer, 8 wide, with a vocabulary of 4: whole, then with one thing wrong.
class HuggingFaceSource : public testing::Test {
 protected:
  HuggingFaceSource() {
    config_ = {{"model_type", "llama"},         {"hidden_size", 8},
               {"num_hidden_layers", 1},        {"num_attention_heads", 2},
               {"intermediate_size", 6},        {"vocab_size", 4},
               {"max_position_embeddings", 16}, {"tie_word_embeddings", true}};
    const std::string layer = "model.layers.0.";
    tensors_ = {{"model.embed_tokens.weight", "F32", {4, 8}},
                {"model.norm.weight", "F16", {8}},
                {layer + "input_layernorm.weight", "BF16", {8}},
                {layer + "post_attention_layernorm.weight", "BF16", {8}},
                {layer + "self_attn.q_proj.weight", "BF16", {8, 8}},
                {layer + "self_attn.k_proj.weight", "F16", {8, 8}},
                {layer + "self_attn.v_proj.weight", "F16", {8, 8}},
                {layer + "self_attn.o_proj.weight", "F16", {8, 8}},
                {layer + "mlp.gate_proj.weight", "F16", {6, 8}},
                {layer + "mlp.up_proj.weight", "F16", {6, 8}},
                {layer + "mlp.down_proj.weight", "F16", {8, 6}}};
  }
  Result<std::unique_ptr<const WeightSource>> open() {
    folder_.write("config.json", config_.dump());
    folder_.write("model.safetensors", safetensors_of(tensors_));
    return open_huggingface_folder(folder_.path(""));
  }
  std::string refusal(ErrorCode code = ErrorCode::kCorruptFile) {
    const auto source = open();
    EXPECT_FALSE(source.has_value());
    if (source) return "(accepted)";
    EXPECT_EQ(source.error().code, code) << source.error().message;
    return source.error().message;
  }

  TestFolder folder_;
  Json config_;
  std::vector<NamedShape> tensors_;
};

TEST_F(HuggingFaceSource, ListsTensorsInGgufOrder) {
  const auto source = open();
  ASSERT_TRUE(source) << source.error().message;
  std::vector<std::string> names;
  for (const SourceTensor& t : (*source)->tensors()) names.push_back(t.name);
  EXPECT_THAT(names,
              ElementsAre("token_embd.weight", "blk.0.attn_norm.weight", "blk.0.attn_q.weight",
                          "blk.0.attn_k.weight", "blk.0.attn_v.weight", "blk.0.attn_output.weight",
                          "blk.0.ffn_norm.weight", "blk.0.ffn_gate.weight", "blk.0.ffn_up.weight",
                          "blk.0.ffn_down.weight", "output_norm.weight"));
  const SourceTensor& q = (*source)->tensors()[2];
  EXPECT_EQ(q.stored_name, "model.layers.0.self_attn.q_proj.weight");
  EXPECT_EQ(q.stored_type, "BF16");
  EXPECT_EQ(q.stored_bytes, 128u);
  EXPECT_EQ(q.exact_type, DType::kBF16);
  EXPECT_EQ((*source)->format(), "Hugging Face safetensors");
}

TEST_F(HuggingFaceSource, InterleavesTheHalvesOfEachHead) {
  const auto source = open();
  ASSERT_TRUE(source) << source.error().message;
  // Heads of 4 rows: GGUF's rows 0 to 3 are stored rows 0, 2, 1, 3.
  const auto stored = (*source)->mapped(4);  // values in order, for their bytes
  ASSERT_TRUE(stored.has_value());
  std::byte rows[8 * 16];
  ASSERT_TRUE((*source)->read_exact(3, 0, 8, rows).has_value());
  const size_t first = static_cast<size_t>(rows[0]);
  for (size_t row = 0; row < 8; ++row) {
    const size_t from = row / 4 * 4 + std::vector<size_t>{0, 2, 1, 3}[row % 4];
    EXPECT_EQ(static_cast<size_t>(rows[row * 16]), (first + from * 16) % 256) << row;
  }
  EXPECT_FALSE((*source)->mapped(3).has_value());
}

TEST_F(HuggingFaceSource, BecomesAModelFileWithMappedAndReadTensors) {
  const auto source = open();
  ASSERT_TRUE(source) << source.error().message;
  const auto file = model_file_of(**source);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->tensors.size(), (*source)->tensors().size());
  for (size_t i = 0; i < file->tensors.size(); ++i) {
    const TensorView& view = file->tensors[i];
    std::vector<std::byte> exact(view.bytes.size());
    ASSERT_TRUE((*source)->read_exact(i, 0, (*source)->tensors()[i].n_rows(), exact.data()));
    EXPECT_TRUE(std::equal(exact.begin(), exact.end(), view.bytes.begin())) << view.name;
    const auto bytes = file->files[view.file]->bytes();
    EXPECT_GE(view.bytes.data(), bytes.data()) << view.name;
    EXPECT_LE(view.bytes.data() + view.bytes.size(), bytes.data() + bytes.size()) << view.name;
    // Pages of memory would be lost.
    file->files[view.file]->drop_pages(view.bytes);
    EXPECT_TRUE(std::equal(exact.begin(), exact.end(), view.bytes.begin())) << view.name;
  }
}

TEST_F(HuggingFaceSource, NamesTensorsThatAreMissingOrMisshapen) {
  const auto removed = tensors_.back();
  tensors_.pop_back();
  EXPECT_THAT(refusal(), AllOf(HasSubstr("model.layers.0.mlp.down_proj.weight is missing"),
                               HasSubstr("architecture llama")));
  tensors_.push_back(removed);
  tensors_.back().shape = {6, 8};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("[6, 8]"), HasSubstr("expected [8, 6]")));
  tensors_.back().shape = {8, 6};
  tensors_.back().type = "U8";
  EXPECT_THAT(refusal(ErrorCode::kUnsupported), HasSubstr("is U8, which holds no weights"));
}

TEST_F(HuggingFaceSource, RefusesTensorsThatTheArchitectureHasNoPlaceFor) {
  tensors_.push_back({"model.layers.0.mlp.experts.0.w1.weight", "F16", {2}});
  EXPECT_THAT(refusal(ErrorCode::kUnsupported),
              AllOf(HasSubstr("experts.0.w1"), HasSubstr("no place in architecture llama")));
  tensors_.back().name = "model.vision_tower.w";
  EXPECT_TRUE(open().has_value());
  tensors_.back().name = "language_model.model.norm.weight";
  EXPECT_THAT(refusal(), HasSubstr("appears under two names"));
}

TEST_F(HuggingFaceSource, OutputHead) {
  const auto has_head = [&] {
    const auto source = open();
    EXPECT_TRUE(source.has_value()) << source.error().message;
    return source && (*source)->find("output.weight").has_value();
  };
  EXPECT_FALSE(has_head());
  tensors_.push_back({"lm_head.weight", "F16", {4, 8}});
  EXPECT_FALSE(has_head());  // tied: a repetition of the embedding
  config_["tie_word_embeddings"] = false;
  EXPECT_TRUE(has_head());
  tensors_.pop_back();
  EXPECT_THAT(refusal(), HasSubstr("lm_head.weight is missing"));
  config_.erase("tie_word_embeddings");
  EXPECT_FALSE(has_head());
}

TEST_F(HuggingFaceSource, BiasesOfAttentionFollowTheirRows) {
  config_["attention_bias"] = true;
  tensors_.push_back({"model.layers.0.self_attn.k_proj.bias", "F32", {8}});
  const auto source = open();
  ASSERT_TRUE(source) << source.error().message;
  const auto index = (*source)->find("blk.0.attn_k.bias");
  ASSERT_TRUE(index.has_value());
  EXPECT_THAT((*source)->tensors()[*index].dims, ElementsAre(8));
  float bias[8];
  ASSERT_TRUE((*source)->read_rows(*index, 0, 1, bias).has_value());
  // It is stored last, behind tensors of an even number of bytes, and its bytes count up.
  const std::string file = read_test_file(folder_.path("model.safetensors"));
  float stored[8];
  std::memcpy(stored, file.data() + file.size() - sizeof stored, sizeof stored);
  EXPECT_THAT(bias, ElementsAre(stored[0], stored[2], stored[1], stored[3], stored[4], stored[6],
                                stored[5], stored[7]));
}

TEST(StoredNumbers, EightBitFloats) {
  // All 256 codes of E4M3: sign, exponent with bias 7, three bits of mantissa; no infinity.
  std::vector<std::byte> codes(256);
  for (size_t i = 0; i < 256; ++i) codes[i] = static_cast<std::byte>(i);
  const auto rows = [&](StoredType type) {
    StoredTensor tensor{.name = "t",
                        .type = type,
                        .shape = {256},
                        .bytes = codes,
                        .file = MappedFile::view("t", codes)};
    return plain_rows({.tensor = tensor, .row_length = 256, .n_rows = 1, .order = {}, .addend = 0});
  };
  std::vector<float> out(256);
  ASSERT_TRUE(rows(StoredType::kF8E4M3)->decode(0, 1, out.data()).has_value());
  EXPECT_EQ(out[0x38], 1.0f);
  EXPECT_EQ(out[0x01], 0x1p-9f);
  EXPECT_EQ(out[0x07], 0x1.cp-7f);
  EXPECT_EQ(out[0x08], 0x1p-6f);
  EXPECT_EQ(out[0x7e], 448.0f);
  EXPECT_EQ(out[0xc4], -3.0f);
  EXPECT_TRUE(out[0x7f] != out[0x7f]);
  ASSERT_TRUE(rows(StoredType::kF8E5M2)->decode(0, 1, out.data()).has_value());
  EXPECT_EQ(out[0x3c], 1.0f);
  EXPECT_EQ(out[0x01], 0x1p-16f);
  EXPECT_EQ(out[0x7b], 57344.0f);
  EXPECT_EQ(out[0xfc], -INFINITY);
  ASSERT_TRUE(rows(StoredType::kI8)->decode(0, 1, out.data()).has_value());
  EXPECT_EQ(out[0xff], -1.0f);
  EXPECT_EQ(rows(StoredType::kI8)->exact_type(), DType::kF16);
}

}  // namespace
}  // namespace tandem
