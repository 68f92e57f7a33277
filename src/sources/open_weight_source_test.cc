#include "sources/open_weight_source.h"

#include <gmock/gmock.h>

#include <cstring>

#include "formats/gguf_test_bytes.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string gguf_bytes() {
  GgufBytes bytes(1, 1);
  bytes.text_pair("general.architecture", "llama").tensor("t", {2, 2}, 0, 0).pad();
  for (const float value : {1.0f, 2.0f, 3.0f, 4.0f}) bytes.number(value);
  return bytes.bytes();
}

Error refusal(const std::string& path) {
  const auto source = open_weight_source(path);
  EXPECT_FALSE(source.has_value());
  return source ? Error{} : source.error();
}

TEST(OpenWeightSource, OpensAGgufFileAndTheOnlyOneOfAFolder) {
  const TestFolder folder;
  const std::string file = folder.write("m.gguf", gguf_bytes());
  for (const std::string& path : {file, folder.path("")}) {
    const auto source = open_weight_source(path);
    ASSERT_TRUE(source.has_value()) << source.error().message;
    EXPECT_EQ((*source)->format(), "GGUF v3");
    float row[2];
    ASSERT_TRUE((*source)->read_rows(0, 1, 1, row).has_value());
    EXPECT_EQ(row[0], 3.0f);
    EXPECT_EQ(row[1], 4.0f);
  }
}

TEST(OpenWeightSource, SaysWhatAFolderHoldsInstead) {
  const TestFolder folder;
  EXPECT_EQ(refusal(folder.path("")).code, ErrorCode::kNotFound);
  EXPECT_THAT(refusal(folder.path("")).message, AllOf(HasSubstr("config.json"), HasSubstr("gguf")));
  folder.write("pytorch_model.bin", "x");
  EXPECT_THAT(refusal(folder.path("")).message, HasSubstr("safetensors"));
  folder.write("a.gguf", gguf_bytes());
  folder.write("b.gguf", gguf_bytes());
  EXPECT_THAT(refusal(folder.path("")).message, AllOf(HasSubstr("a.gguf"), HasSubstr("b.gguf")));
  EXPECT_EQ(refusal(folder.path("none.gguf")).code, ErrorCode::kNotFound);
  folder.write("model.safetensors", "x");
  EXPECT_THAT(refusal(folder.path("model.safetensors")).message, HasSubstr("name the folder"));
}

TEST(OpenWeightSource, CountsASplitModelOnce) {
  const TestFolder folder;
  folder.write("m-00001-of-00002.gguf", "x");
  folder.write("m-00002-of-00002.gguf", "x");
  EXPECT_EQ(refusal(folder.path("")).code, ErrorCode::kCorruptFile);
}

}  // namespace
}  // namespace tandem
