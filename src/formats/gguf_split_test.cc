#include "formats/gguf_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/gguf_test_bytes.h"

namespace tandem {
namespace {

using testing::HasSubstr;

TEST(GgufPartName, TakesNamesApart) {
  const auto name = GgufPartName::parse("/모델/m-q4-00002-of-00012.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "/모델/m-q4");
  EXPECT_EQ(name->number, 1u);
  EXPECT_EQ(name->count, 12u);
  EXPECT_EQ(name->path_of(11), "/모델/m-q4-00012-of-00012.gguf");
}

TEST(GgufPartName, RefusesOtherNames) {
  for (const char* path :
       {"m.gguf", "m-0001-of-0003.gguf", "m-00000-of-00003.gguf", "m-00004-of-00003.gguf",
        "m-0000a-of-00003.gguf", "m-00001-of-00003.bin", "m_00001-of-00003.gguf", ""}) {
    EXPECT_FALSE(GgufPartName::parse(path)) << path;
  }
}

TEST(GgufSplit, KeysAreChecked) {
  EXPECT_THAT(
      gguf_refusal(GgufBytes(0, 1).u32_pair("split.count", 3).bytes(), ErrorCode::kNotFound),
      HasSubstr("key 'split.no' is missing"));
  GgufBytes beyond(0, 3);
  beyond.u32_pair("split.count", 3).u32_pair("split.no", 3).u32_pair("split.tensors.count", 1);
  EXPECT_THAT(gguf_refusal(beyond.bytes()),
              HasSubstr("key 'split.no' is 3, but there are 3 parts"));
  EXPECT_THAT(gguf_refusal(GgufBytes(0, 1).u32_pair("split.count", 65536).bytes()),
              HasSubstr("key 'split.count' is 65536, the limit is 65535"));
  EXPECT_THAT(gguf_refusal(GgufBytes(0, 1).text_pair("split.count", "3").bytes()),
              HasSubstr("holds string"));
}

TEST(GgufSplit, OnePartOrNoneIsAWholeModel) {
  for (const uint32_t count : {0u, 1u}) {
    EXPECT_TRUE(parse_gguf_bytes(GgufBytes(0, 1).u32_pair("split.count", count).bytes()));
  }
}

}  // namespace
}  // namespace tandem
