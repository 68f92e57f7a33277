#include "cli/inspect_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "formats/gguf_reader.h"
#include "formats/linear_inputs.h"

namespace tandem::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

const InspectOptions kFull{.metadata = true, .tensors = true, .filter = "", .full = true};

ModelFile open_corpus(const std::string& name) {
  auto model = open_gguf(TANDEM_SOURCE_DIR "/tests/fuzz/corpus/gguf/" + name);
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : ModelFile{};
}

ModelFile with_metadata(std::string key, MetadataValue value) {
  ModelFile model;
  model.metadata = Metadata("m.gguf");
  model.metadata.set(std::move(key), std::move(value));
  return model;
}

TEST(PassesFilter, ContainsOrMatches) {
  EXPECT_TRUE(passes_filter("blk.0.attn_q.weight", ""));
  EXPECT_TRUE(passes_filter("blk.0.attn_q.weight", "attn"));
  EXPECT_FALSE(passes_filter("blk.0.attn_q.weight", "ffn"));
  EXPECT_TRUE(passes_filter("blk.0.attn_q.weight", "blk.?.attn*"));
  EXPECT_TRUE(passes_filter("blk.0.attn_q.weight", "*weight"));
  EXPECT_TRUE(passes_filter("aXbXbc", "a*bc"));
  EXPECT_FALSE(passes_filter("blk.0.attn_q.weight", "attn*"));
  EXPECT_FALSE(passes_filter("blk.10.x", "blk.?.x"));
  EXPECT_TRUE(passes_filter("", "**"));
  EXPECT_FALSE(passes_filter("", "?"));
}

// Sizes: 8x4 F32 is 128 bytes, 64x2 Q8_0 is 4 blocks of 34; tests/fuzz/gguf_corpus.py.
TEST(InspectJson, SumsParametersBytesAndTypes) {
  const Json report = inspect_json(open_corpus("v3.gguf"), {});
  EXPECT_EQ(report["schema"], "tandem.inspect.v1");
  EXPECT_EQ(report["format"], "GGUF v3");
  EXPECT_EQ(report["architecture"], "llama");
  EXPECT_EQ(report["name"], nullptr);
  EXPECT_EQ(report["totals"]["parameters"], 32 + 128);
  EXPECT_EQ(report["totals"]["bytes"], 128 + 136);
  EXPECT_EQ(report["totals"]["bits_per_weight"], 8.0 * 264 / 160);
  EXPECT_EQ(report["file_bytes"], 480);
  EXPECT_EQ(report["types"].size(), 2u);
  EXPECT_EQ(report["types"][0], Json::parse(R"({"type": "Q8_0", "tensors": 1, "parameters": 128,
      "bytes": 136, "bits_per_weight": 8.5})"));
  EXPECT_EQ(report["tensors"][1], Json::parse(R"({"name": "blk.0.ffn_up.weight", "type": "Q8_0",
      "shape": [64, 2], "parameters": 128, "bytes": 136, "file": 0, "offset": 320})"));
  EXPECT_EQ(report["metadata"], Json::parse(R"({"general.architecture":
      {"type": "string", "value": "llama"}})"));
}

TEST(InspectJson, ListsThePartsOfASplitModel) {
  const Json report = inspect_json(open_corpus("split-00003-of-00003.gguf"), {});
  ASSERT_EQ(report["files"].size(), 3u);
  EXPECT_EQ(report["files"][1]["bytes"], 256);
  EXPECT_EQ(report["files"][1]["tensors"], 1);
  EXPECT_EQ(report["file_bytes"], 288 + 256 + 256);
  EXPECT_EQ(report["tensors"][2]["file"], 2);
}

TEST(InspectJson, ShortensArraysUnlessFull) {
  std::vector<int32_t> numbers(100, 7);
  const ModelFile model = with_metadata("k", numbers);
  const Json entry = inspect_json(model, {})["metadata"]["k"];
  EXPECT_EQ(entry, Json::parse(R"({"type": "i32[]", "length": 100, "truncated": true,
      "value": [7, 7, 7, 7, 7, 7, 7, 7]})"));
  const Json full = inspect_json(model, kFull)["metadata"]["k"];
  EXPECT_EQ(full["value"].size(), 100u);
  EXPECT_EQ(full["truncated"], false);
}

TEST(InspectJson, EveryMetadataTypeHasAValue) {
  const Json report = inspect_json(open_corpus("every_type.gguf"), {});
  const Json& metadata = report["metadata"];
  EXPECT_EQ(metadata["scalar.1"]["value"], -100);
  EXPECT_EQ(metadata["scalar.7"]["value"], true);
  EXPECT_EQ(metadata["scalar.8"]["value"], "안녕, tandem");
  EXPECT_EQ(metadata["scalar.10"]["value"], (uint64_t{1} << 63) + 1);
  EXPECT_EQ(metadata["array.bools"]["value"], Json::parse("[true, false, false, true]"));
  EXPECT_EQ(metadata["array.nested"], Json::parse(R"({"type": "array[]", "length": 3})"));
  EXPECT_EQ(report["totals"]["bits_per_weight"], nullptr);
}

TEST(InspectJson, FilterAndSectionsSelect) {
  const Json report =
      inspect_json(open_corpus("every_dtype.gguf"),
                   {.metadata = false, .tensors = true, .filter = "*Q4_?.weight", .full = false});
  EXPECT_FALSE(report.contains("metadata"));
  ASSERT_EQ(report["tensors"].size(), 3u);
  EXPECT_EQ(report["tensors"][2]["name"], "blk.0.Q4_K.weight");
  // Totals are the file's, whatever is listed.
  EXPECT_EQ(report["totals"]["tensors"], 24);
}

TEST(InspectText, ShowsSummaryTypesAndTensors) {
  const std::string text = inspect_text(open_corpus("v3.gguf"), {});
  EXPECT_THAT(text, HasSubstr("  architecture     \"llama\"\n"));
  EXPECT_THAT(text, HasSubstr("  name             (not stated)\n"));
  EXPECT_THAT(text, HasSubstr("  bits per weight  13.200\n"));
  EXPECT_THAT(text, HasSubstr("  Q8_0        1         128  136 bytes        8.500\n"));
  EXPECT_THAT(text, HasSubstr("tensors (2 of 2; shapes innermost first)\n"
                              "  token_embd.weight    F32   [8, 4]   128 bytes\n"
                              "  blk.0.ffn_up.weight  Q8_0  [64, 2]  136 bytes\n"));
  EXPECT_THAT(text, Not(HasSubstr("files (")));
  EXPECT_THAT(inspect_text(open_corpus("empty.gguf"), {}), HasSubstr("bits per weight  -\n"));
  EXPECT_THAT(inspect_text(open_corpus("split-00001-of-00003.gguf"), {}), HasSubstr("files (3)"));
}

TEST(InspectText, EscapesWhatATerminalWouldObey) {
  const ModelFile model = with_metadata("k", std::string("a\x1b[31m\n\xff\"\xc2\x9b안"));
  EXPECT_THAT(inspect_text(model, {}), HasSubstr(R"("a\x1b[31m\n\xff\"\u009b안")"));
}

TEST(InspectText, ShortensLongValuesUnlessFull) {
  const ModelFile text = with_metadata("k", std::string(500, 'x'));
  EXPECT_THAT(inspect_text(text, {}), HasSubstr(std::string(71, 'x') + "\"...\n"));
  EXPECT_THAT(inspect_text(text, kFull), HasSubstr(std::string(500, 'x') + "\"\n"));
  const ModelFile array = with_metadata("k", std::vector<std::string>(1000, "안녕"));
  EXPECT_THAT(inspect_text(array, {}), HasSubstr("[1000] \"안녕\", \"안녕\","));
  EXPECT_THAT(inspect_text(array, {}), HasSubstr(", ...\n"));
  EXPECT_THAT(inspect_text(array, kFull), Not(HasSubstr("...")));
}

ModelFile calibrated_model() {
  ModelFile model = open_corpus("v3.gguf");
  store_linear_inputs({.outlier_factor = 20.0f,
                       .inputs = {{"blk.0.ffn_up.weight", -254.0f, 1.0f, {3, 17}, true},
                                  {"output.weight", -1.0f, 12.7f, {}, false}}},
                      model.metadata);
  model.metadata.set("tandem.mixed.tensors", std::vector<std::string>{"blk.0.ffn_up.weight"});
  model.metadata.set("tandem.mixed.formats", std::vector<std::string>{"Q6_K"});
  model.metadata.set("tandem.mixed.kl", std::vector<float>{0.25f});
  model.metadata.set("tandem.mixed.measured_kl", 0.5f);
  auto nested = std::make_shared<NestedTensor>();
  nested->shift = 3;
  nested->low = model.tensors[0].bytes.first(64);
  model.tensors[0].nested = nested;
  return model;
}

TEST(InspectText, ShowsPlanesChoicesAndInputs) {
  const std::string text = inspect_text(calibrated_model(), {});
  // (264 + 64) bytes of 160 weights.
  EXPECT_THAT(text, HasSubstr("nested (1 tensors, 64 bytes of low planes, 16.400 bits per weight "
                              "with them)\n  tensor             e\n  token_embd.weight  3\n"));
  EXPECT_THAT(text, HasSubstr("mixed precision (1 tensors, KL of all together 5.00e-01)\n"));
  EXPECT_THAT(text, HasSubstr("  blk.0.ffn_up.weight  Q6_K    2.50e-01\n"));
  EXPECT_THAT(text, HasSubstr("activations (2 inputs; outliers from 20 times the rms)\n"));
  EXPECT_THAT(text,
              HasSubstr("  blk.0.ffn_up.weight     -254        1           2    16  3, 17\n"));
  EXPECT_THAT(text, HasSubstr("  output.weight             -1     12.7         0.1     8  -\n"));
  EXPECT_THAT(inspect_text(calibrated_model(), {.filter = "ffn"}),
              Not(HasSubstr("  output.weight")));
}

TEST(InspectJson, ShowsPlanesChoicesAndInputs) {
  const Json report = inspect_json(calibrated_model(), {});
  EXPECT_EQ(report["nested"]["exponents"]["token_embd.weight"], 3);
  EXPECT_EQ(report["mixed"]["tensors"][0]["format"], "Q6_K");
  EXPECT_EQ(report["activations"]["inputs"][0],
            Json::parse(R"({"weight": "blk.0.ffn_up.weight", "minimum": -254.0, "maximum": 1.0,
                "int8_scale": 2.0, "bits": 16, "outlier_channels": [3, 17]})"));
  const Json plain = inspect_json(open_corpus("v3.gguf"), {});
  EXPECT_EQ(plain["nested"], nullptr);
  EXPECT_EQ(plain["mixed"], nullptr);
  EXPECT_EQ(plain["activations"], nullptr);
}

TEST(InspectText, KeysThatContradictEachOtherAreSaidSo) {
  ModelFile model = calibrated_model();
  model.metadata.set("tandem.activations.minimum", std::vector<float>{});
  model.metadata.set("tandem.mixed.kl", std::vector<float>{});
  EXPECT_THAT(inspect_text(model, {}), HasSubstr("activations: "));
  EXPECT_THAT(inspect_text(model, {}), HasSubstr("minimum has 0 elements, 2 are due"));
  EXPECT_THAT(inspect_text(model, {}), HasSubstr("1 tensors, 1 formats and 0 divergences"));
  EXPECT_TRUE(inspect_json(model, {})["activations"].contains("error"));
}

TEST(InspectText, NumbersThatAreNotFiniteAreShown) {
  const ModelFile model = with_metadata("k", std::numeric_limits<float>::quiet_NaN());
  EXPECT_THAT(inspect_text(model, {}), HasSubstr("k  f32  nan"));
  EXPECT_THAT(inspect_json(model, {}).dump(), HasSubstr(R"("value":null)"));
}

}  // namespace
}  // namespace tandem::cli
