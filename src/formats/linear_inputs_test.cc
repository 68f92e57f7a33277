#include "formats/linear_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Metadata three_inputs() {
  Metadata metadata("m.gguf");
  store_linear_inputs({.outlier_factor = 20.0f,
                       .inputs = {{"a.weight", -1.5f, 3.0f, {2, 7}, false},
                                  {"b.weight", 0.0f, 0.0f, {}, true},
                                  {"c.weight", -254.0f, 1.0f, {5}, false}}},
                      metadata);
  return metadata;
}

TEST(LinearInputs, RoundTrip) {
  const auto read = read_linear_inputs(three_inputs());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->outlier_factor, 20.0f);
  ASSERT_EQ(read->inputs.size(), 3u);
  EXPECT_THAT(read->inputs[0].outlier_channels, ElementsAre(2, 7));
  EXPECT_THAT(read->inputs[2].outlier_channels, ElementsAre(5));
  EXPECT_FALSE(read->inputs[0].wide);
  EXPECT_TRUE(read->find("b.weight")->wide);
  EXPECT_EQ(read->find("a.weight")->maximum, 3.0f);
  EXPECT_EQ(read->find("d.weight"), nullptr);
}

TEST(LinearInputs, StaticScalesCoverTheRange) {
  const auto read = read_linear_inputs(three_inputs());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->inputs[2].static_scale(127), 2.0f);  // 254 / 127
  EXPECT_EQ(read->inputs[0].static_scale(32767), 3.0f / 32767);
  EXPECT_EQ(read->inputs[1].static_scale(127), 0.0f);
}

TEST(LinearInputs, FilesWithoutThemHaveNone) {
  const auto read = read_linear_inputs(Metadata("m.gguf"));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->inputs.empty());
}

TEST(LinearInputs, ContradictionsAreErrorsThatNameTheKey) {
  const auto error_of = [](std::string key, MetadataValue value) {
    Metadata metadata = three_inputs();
    metadata.set(std::move(key), std::move(value));
    const auto read = read_linear_inputs(metadata);
    EXPECT_FALSE(read);
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(error_of("tandem.activations.minimum", std::vector<float>{1.0f}),
              HasSubstr("tandem.activations.minimum has 1 elements, 3 are due"));
  EXPECT_THAT(error_of("tandem.activations.n_outliers", std::vector<uint32_t>{2, 0, 2}),
              HasSubstr("tandem.activations.outlier_channels has 3 elements, 4 are due"));
  EXPECT_THAT(error_of("tandem.activations.n_outliers", std::vector<int32_t>{-1, 0, 4}),
              HasSubstr("has the element -1"));
  EXPECT_THAT(error_of("tandem.activations.maximum", std::vector<float>{-2.0f, 0.0f, 1.0f}),
              HasSubstr("the input of 'a.weight' ranges from -1.5 to -2"));
  EXPECT_THAT(error_of("tandem.activations.maximum",
                       std::vector<float>{std::numeric_limits<float>::infinity(), 0.0f, 1.0f}),
              HasSubstr("ranges from -1.5 to inf"));
  EXPECT_THAT(error_of("tandem.activations.weights", std::string("a")),
              HasSubstr("tandem.activations.weights"));
}

}  // namespace
}  // namespace tandem
