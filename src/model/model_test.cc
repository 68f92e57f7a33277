// Hyperparameters, errors of model files, and the wiring of a graph as text.

#include "model/model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "formats/gguf_writer.h"
#include "model/architecture.h"
#include "tests/support/tiny_model.h"

namespace tandem {
namespace {

using testing::tiny_shape;

Result<Hyperparameters> read_changed(const std::function<void(Metadata&)>& change) {
  const auto model = testing::make_tiny_model(tiny_shape("llama"));
  ModelFile file = model->file();
  change(file.metadata);
  return Hyperparameters::read(file);
}

TEST(Hyperparameters, StatedHeadSizesWinOverWidthByHeads) {
  const auto h = read_changed([](Metadata& m) {
    m.set("llama.attention.key_length", uint32_t{48});
    m.set("llama.attention.value_length", uint32_t{8});
    m.set("llama.rope.dimension_count", uint32_t{48});
  });
  ASSERT_TRUE(h) << h.error().message;
  EXPECT_EQ(h->key_size, 48u);
  EXPECT_EQ(h->value_size, 8u);
}

TEST(Hyperparameters, ErrorsNameKeyValueAndLimit) {
  const auto heads =
      read_changed([](Metadata& m) { m.set("llama.attention.head_count_kv", uint32_t{3}); });
  ASSERT_FALSE(heads);
  EXPECT_NE(heads.error().message.find("llama.attention.head_count_kv is 3, must divide"),
            std::string::npos)
      << heads.error().message;
  const auto layers = read_changed([](Metadata& m) { m.set("llama.block_count", uint32_t{0}); });
  ASSERT_FALSE(layers);
  EXPECT_NE(layers.error().message.find("llama.block_count is 0"), std::string::npos);
  const auto scaling =
      read_changed([](Metadata& m) { m.set("llama.rope.scaling.type", std::string("spiral")); });
  ASSERT_FALSE(scaling);
  EXPECT_NE(scaling.error().message.find("spiral"), std::string::npos);
  EXPECT_EQ(scaling.error().code, ErrorCode::kUnsupported);
}

// A08: both spellings of the key are read.
TEST(FieldReport, A08_ScalingTypeUnderBothKeys) {
  for (const char* key : {"llama.rope.scaling.type", "llama.rope.scaling.rope_type"}) {
    const auto h = read_changed([&](Metadata& m) {
      m.set(key, std::string("linear"));
      m.set("llama.rope.scaling.factor", 4.0f);
    });
    ASSERT_TRUE(h) << h.error().message;
    EXPECT_EQ(h->rope_scaling.kind, RopeScaling::Kind::kLinear) << key;
    EXPECT_EQ(h->rope_scaling.factor, 4.0f);
  }
}

/// Divisors of a synthesized llama3 model, taken back from its graph's frequencies.
std::vector<double> llama3_multipliers(const ModelShape& shape) {
  const auto model = testing::make_tiny_model(shape);
  const auto graph = build_graph(*model, Phase::kPrefill);
  EXPECT_TRUE(graph) << graph.error().message;
  std::vector<double> out;
  const auto& frequencies = graph->rope_tables[0].inverse_frequencies;
  for (size_t p = 0; p < frequencies.size(); ++p) {
    const double plain = std::pow(shape.rope_base, -2.0 * p / shape.key_size);
    out.push_back(frequencies[p] / plain);
  }
  return out;
}

// A08: the multipliers that the field report derives from the published formula.
TEST(FieldReport, A08_Llama3FrequencyMultipliers) {
  ModelShape shape = tiny_shape("llama-llama3");
  shape.rope_base = 10000.0f;
  shape.original_context = 64;
  shape.llama3_factor = 8.0f;
  const std::vector<double> small = llama3_multipliers(shape);
  const double expected[] = {1, 0.772812, 0.130423, 0.125, 0.125, 0.125, 0.125, 0.125};
  ASSERT_EQ(small.size(), 8u);
  for (size_t p = 0; p < 8; ++p) EXPECT_NEAR(small[p], expected[p], 1e-6) << p;

  shape.key_size = shape.value_size = 64;
  shape.rope_base = 500000.0f;
  shape.original_context = 8192;
  shape.llama3_factor = 32.0f;
  const std::vector<double> large = llama3_multipliers(shape);
  ASSERT_EQ(large.size(), 32u);
  for (size_t p = 0; p < 15; ++p) EXPECT_NEAR(large[p], 1.0, 1e-6) << p;
  EXPECT_NEAR(large[15], 0.605573, 1e-6);
  EXPECT_NEAR(large[16], 0.303743, 1e-6);
  EXPECT_NEAR(large[17], 0.103448, 1e-6);
  for (size_t p = 18; p < 32; ++p) EXPECT_NEAR(large[p], 1.0 / 32, 1e-7) << p;
}

TEST(Model, UnknownArchitectureListsTheKnownOnes) {
  const auto error = find_architecture("mamba9");
  ASSERT_FALSE(error);
  EXPECT_NE(error.error().message.find("mamba9"), std::string::npos);
  for (const Architecture& a : architectures()) {
    EXPECT_NE(error.error().message.find(a.name), std::string::npos) << a.name;
  }
}

TEST(Model, MissingAndMisshapenTensorsAreNamed) {
  const auto model = testing::make_tiny_model(tiny_shape("qwen3"));
  ModelFile missing = model->file();
  std::erase_if(missing.tensors, [](const auto& t) { return t.name == "blk.1.ffn_up.weight"; });
  const auto without = Model::from_file(std::move(missing));
  ASSERT_TRUE(without);
  const auto graph = build_graph(**without, Phase::kPrefill);
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("blk.1.ffn_up.weight is missing"), std::string::npos);

  ModelFile turned = model->file();
  for (TensorView& t : turned.tensors) {
    if (t.name == "blk.2.ffn_down.weight") std::swap(t.dims[0], t.dims[1]);
  }
  const auto misshapen = build_graph(**Model::from_file(std::move(turned)), Phase::kPrefill);
  ASSERT_FALSE(misshapen);
  EXPECT_NE(misshapen.error().message.find("blk.2.ffn_down.weight has shape [64, 96], expected "
                                           "[96, 64]"),
            std::string::npos)
      << misshapen.error().message;
}

TEST(Model, StoredRangesReachTheirWeights) {
  const auto model = testing::make_tiny_model(tiny_shape("qwen3"));
  const auto graph_with = [&](std::vector<uint32_t> outlier_channels) {
    ModelFile file = model->file();
    store_linear_inputs(
        {.outlier_factor = 20.0f,
         .inputs = {{"blk.1.ffn_down.weight", -2.0f, 5.0f, std::move(outlier_channels), true}}},
        file.metadata);
    const auto calibrated = Model::from_file(std::move(file));
    EXPECT_TRUE(calibrated) << calibrated.error().message;
    return build_graph(**calibrated, Phase::kPrefill);
  };
  const auto graph = graph_with({4});
  ASSERT_TRUE(graph) << graph.error().message;
  size_t n_described = 0;
  for (const Weight& weight : graph->weights) {
    if (weight.input == nullptr) continue;
    ++n_described;
    EXPECT_EQ(weight.name, "blk.1.ffn_down.weight");
    EXPECT_EQ(weight.input->maximum, 5.0f);
    EXPECT_TRUE(weight.input->wide);
  }
  EXPECT_EQ(n_described, 1u);

  const auto beyond = graph_with({4, 96});
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().message.find("channel 96 of 'blk.1.ffn_down.weight', which has 96"),
            std::string::npos)
      << beyond.error().message;
}

// A10 and the pattern keys: which layers slide.
TEST(Gemma, SlidingLayersFollowThePattern) {
  ModelShape shape = tiny_shape("gemma3");
  shape.n_layers = 7;
  const auto windows = [](const Model& model) {
    std::vector<uint32_t> out;
    const auto graph = build_graph(model, Phase::kPrefill);
    for (const State& s : graph->states) out.push_back(std::get<KvState>(s).window);
    return out;
  };
  EXPECT_EQ(windows(*testing::make_tiny_model(shape)),
            (std::vector<uint32_t>{8, 8, 8, 8, 8, 0, 8}));
  shape.extra = {{"attention.sliding_window_pattern", uint32_t{3}}};
  EXPECT_EQ(windows(*testing::make_tiny_model(shape)),
            (std::vector<uint32_t>{8, 8, 0, 8, 8, 0, 8}));
  shape.extra = {{"attention.sliding_window_pattern",
                  std::vector<bool>{true, false, true, false, true, false, true}}};
  EXPECT_EQ(windows(*testing::make_tiny_model(shape)),
            (std::vector<uint32_t>{8, 0, 8, 0, 8, 0, 8}));
}

TEST(Graph, DumpShowsTheWiringOfALayer) {
  ModelShape shape = tiny_shape("qwen3");
  shape.n_layers = 1;
  const auto graph = build_graph(*testing::make_tiny_model(shape), Phase::kDecode);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->dump(),
            "graph decode: 22 nodes\n"
            "embed[T,64] = embed() token_embd.weight:F32[512,64]\n"
            "layers.0.attention_norm[T,64] = rms_norm(embed) blk.0.attn_norm.weight:F32[1,64]\n"
            "layers.0.q[T,64] = linear(layers.0.attention_norm) blk.0.attn_q.weight:F32[64,64]\n"
            "layers.0.k[T,32] = linear(layers.0.attention_norm) blk.0.attn_k.weight:F32[32,64]\n"
            "layers.0.v[T,32] = linear(layers.0.attention_norm) blk.0.attn_v.weight:F32[32,64]\n"
            "layers.0.q_norm[T,64] = qk_norm(layers.0.q) blk.0.attn_q_norm.weight:F32[1,16]\n"
            "layers.0.k_norm[T,32] = qk_norm(layers.0.k) blk.0.attn_k_norm.weight:F32[1,16]\n"
            "layers.0.q_rope[T,64] = rope(layers.0.q_norm)\n"
            "layers.0.k_rope[T,32] = rope(layers.0.k_norm)\n"
            "- = kv_write(layers.0.k_rope, layers.0.v)\n"
            "layers.0.attention[T,64] = attention(layers.0.q_rope)\n"
            "layers.0.attention_output[T,64] = linear(layers.0.attention) "
            "blk.0.attn_output.weight:F32[64,64]\n"
            "layers.0.attention_residual[T,64] = add(embed, layers.0.attention_output)\n"
            "layers.0.ffn_norm[T,64] = rms_norm(layers.0.attention_residual) "
            "blk.0.ffn_norm.weight:F32[1,64]\n"
            "layers.0.gate[T,96] = linear(layers.0.ffn_norm) blk.0.ffn_gate.weight:F32[96,64]\n"
            "layers.0.up[T,96] = linear(layers.0.ffn_norm) blk.0.ffn_up.weight:F32[96,64]\n"
            "layers.0.glu[T,96] = glu(layers.0.gate, layers.0.up)\n"
            "layers.0.down[T,64] = linear(layers.0.glu) blk.0.ffn_down.weight:F32[64,96]\n"
            "layers.0.ffn_residual[T,64] = add(layers.0.attention_residual, layers.0.down)\n"
            "select_rows[O,64] = select_rows(layers.0.ffn_residual)\n"
            "output_norm[O,64] = rms_norm(select_rows) output_norm.weight:F32[1,64]\n"
            "logits[O,512] = linear(output_norm) token_embd.weight:F32[512,64]\n");
}

}  // namespace
}  // namespace tandem
