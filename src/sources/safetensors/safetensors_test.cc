#include "sources/safetensors/safetensors.h"

#include <gmock/gmock.h>

#include "formats/gguf_test_bytes.h"
#include "sources/checkpoint_test_files.h"
#include "sources/safetensors/safetensors_folder.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Error refusal(const std::string& bytes) {
  const auto tensors = parse_safetensors(in_memory("m.safetensors", bytes));
  EXPECT_FALSE(tensors.has_value());
  if (tensors) return {ErrorCode::kIo, "(it was accepted)"};
  EXPECT_THAT(tensors.error().message, testing::StartsWith("m.safetensors: "));
  return tensors.error();
}

std::string message(const std::string& header, size_t n_data) {
  return refusal(safetensors_bytes(header, n_data)).message;
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirData) {
  const std::string bytes =
      safetensors_bytes(R"({"__metadata__":{"format":"pt","a":""},)"
                        R"("b":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},)"
                        R"("a":{"shape":[],"data_offsets":[0,4],"dtype":"F32"},)"
                        R"("empty":{"dtype":"BF16","shape":[0,8],"data_offsets":[16,16]}}   )",
                        16);
  const auto tensors = parse_safetensors(in_memory("m", bytes));
  ASSERT_TRUE(tensors.has_value()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 3u);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[0].type, StoredType::kF32);
  EXPECT_TRUE((*tensors)[0].shape.empty());
  EXPECT_EQ((*tensors)[1].name, "b");
  EXPECT_THAT((*tensors)[1].shape, ElementsAre(2, 3));
  ASSERT_EQ((*tensors)[1].bytes.size(), 12u);
  EXPECT_EQ((*tensors)[1].bytes[0], std::byte{4});
  EXPECT_EQ((*tensors)[2].bytes.size(), 0u);
}

TEST(Safetensors, RefusesHeadersThatDoNotFit) {
  EXPECT_THAT(refusal("abc").message, HasSubstr("3 bytes"));
  EXPECT_THAT(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)).message,
              AllOf(HasSubstr("18446744073709551615"), HasSubstr("limit 2")));
  EXPECT_THAT(refusal(safetensors_bytes("{}", 0).substr(0, 9)).message, HasSubstr("limit 1"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1\noid").message,
              HasSubstr("git lfs pull"));
  EXPECT_THAT(message("[]", 0), HasSubstr("byte 0"));
  EXPECT_THAT(message("{} x", 0), HasSubstr("the end expected"));
  EXPECT_THAT(message("", 0), HasSubstr("expected"));
}

TEST(Safetensors, RefusesEntriesThatContradictThemselves) {
  const auto entry = [](const char* type, const char* shape, const char* offsets) {
    return fmt::format(R"({{"t":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", type, shape,
                       offsets);
  };
  EXPECT_THAT(message(entry("F32", "[2]", "[0,4]"), 4), HasSubstr("its type and shape need 8"));
  EXPECT_THAT(message(entry("F32", "[2]", "[0,8]"), 4), HasSubstr("there are 4 bytes"));
  EXPECT_THAT(message(entry("F32", "[1]", "[8,4]"), 8), HasSubstr("8 to 4"));
  EXPECT_THAT(message(entry("F32", "[1]", "[4,8]"), 8), HasSubstr("begins at data byte 4"));
  EXPECT_THAT(message(entry("F32", "[1]", "[0,4]"), 6), HasSubstr("2 bytes of data belong to no"));
  EXPECT_THAT(message(entry("F32", "[-1]", "[0,4]"), 4), HasSubstr("none negative"));
  EXPECT_THAT(message(entry("F32", "[1.5]", "[0,4]"), 4), HasSubstr("expected"));
  EXPECT_THAT(message(entry("F32", "[4294967296,4294967296,4]", "[0,0]"), 0), HasSubstr("2^62"));
  EXPECT_THAT(message(entry("F32", "[99999999999999999999]", "[0,0]"), 0), HasSubstr("an integer"));
  EXPECT_THAT(message(entry("F32", "[1]", "[0,4,8]"), 4), HasSubstr("data_offsets"));
  EXPECT_THAT(message(entry("F32", "[1]", "[0]"), 4), HasSubstr("must have 2"));
  EXPECT_THAT(message(entry("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4), HasSubstr("at most 8"));
  const Error unknown = refusal(safetensors_bytes(entry("F4", "[2]", "[0,1]"), 1));
  EXPECT_EQ(unknown.code, ErrorCode::kUnsupported);
  EXPECT_THAT(unknown.message, AllOf(HasSubstr("tensor t"), HasSubstr("F4")));
}

TEST(Safetensors, RefusesRepeatedAndMissingParts) {
  const std::string good = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_THAT(message(R"({"t":)" + good + R"(,"t":)" + good + "}", 4),
              HasSubstr("t appears twice"));
  EXPECT_THAT(message(R"({"t":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
              HasSubstr("states dtype twice"));
  EXPECT_THAT(message(R"({"t":{"shape":[1],"data_offsets":[0,4]}})", 4), HasSubstr("states 2"));
  EXPECT_THAT(message(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4),
              HasSubstr("unknown field \"x\""));
  EXPECT_THAT(message(R"({"__metadata__":{"a":1}})", 0), HasSubstr("expected"));
  EXPECT_THAT(message(R"({"":)" + good + "}", 4), HasSubstr("name has 0 bytes"));
  // Two tensors over the same bytes.
  EXPECT_THAT(message(R"({"a":)" + good + R"(,"b":)" + good + "}", 4), HasSubstr("begins at"));
}

class SafetensorsFolder : public testing::Test {
 protected:
  std::string refusal() {
    const auto tensors = open_safetensors_folder(folder_.path(""));
    EXPECT_FALSE(tensors.has_value());
    return tensors ? "" : tensors.error().message;
  }
  void index(const std::string& weight_map) {
    folder_.write("model.safetensors.index.json", R"({"weight_map":)" + weight_map + "}");
  }
  TestFolder folder_;
  const std::string one_ = safetensors_of({{"a", "F32", {2}}});
  const std::string two_ = safetensors_of({{"b", "F16", {4}}, {"c", "BF16", {1}}});
};

TEST_F(SafetensorsFolder, JoinsTheShardsOfAnIndex) {
  folder_.write("one.safetensors", one_);
  folder_.write("two.safetensors", two_);
  index(R"({"a":"one.safetensors","b":"two.safetensors","c":"two.safetensors"})");
  const auto tensors = open_safetensors_folder(folder_.path(""));
  ASSERT_TRUE(tensors.has_value()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 3u);
  EXPECT_EQ((*tensors)[2].name, "c");
}

TEST_F(SafetensorsFolder, TakesTheOnlyFileThereIs) {
  folder_.write("weights.safetensors", one_);
  EXPECT_TRUE(open_safetensors_folder(folder_.path("")).has_value());
  folder_.write("other.safetensors", two_);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("other.safetensors"), HasSubstr("index.json")));
  folder_.write("model.safetensors", one_);
  EXPECT_TRUE(open_safetensors_folder(folder_.path("")).has_value());
}

TEST_F(SafetensorsFolder, NamesWhatIsMissingBeforeReading) {
  folder_.write("one.safetensors", "not read");
  index(R"({"a":"one.safetensors","b":"two.safetensors","c":"three.safetensors"})");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("2 of 3"), HasSubstr("two.safetensors"),
                               HasSubstr("three.safetensors")));
}

TEST_F(SafetensorsFolder, RefusesAnIndexThatDisagreesWithItsShards) {
  folder_.write("one.safetensors", one_);
  folder_.write("two.safetensors", two_);
  index(R"({"a":"two.safetensors","b":"one.safetensors"})");
  EXPECT_THAT(refusal(), HasSubstr("tensor a should be in two.safetensors"));
  folder_.write("two.safetensors", one_);
  index(R"({"a":"two.safetensors","b":"one.safetensors"})");
  EXPECT_THAT(refusal(), HasSubstr("a is in both"));
  index(R"({"a":"../one.safetensors"})");
  EXPECT_THAT(refusal(), HasSubstr("no name in its folder"));
  index(R"({"a":1})");
  EXPECT_THAT(refusal(), HasSubstr("names no file for a"));
  index("{}");
  EXPECT_THAT(refusal(), HasSubstr("empty"));
  index("[");
  EXPECT_THAT(refusal(), HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace tandem
