#include "formats/gguf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "formats/gguf_test_bytes.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr auto kF32 = static_cast<uint32_t>(DType::kF32);
constexpr auto kQ4_0 = static_cast<uint32_t>(DType::kQ4_0);

ModelFile open_corpus(const std::string& name) {
  auto model = open_gguf(gguf_corpus_path(name));
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : ModelFile{};
}

template <class T>
void expect_scalar_and_array(const Metadata& metadata, int type, const T& value) {
  const MetadataValue* scalar = metadata.find(fmt::format("scalar.{}", type));
  ASSERT_NE(scalar, nullptr) << type;
  EXPECT_EQ(*scalar, MetadataValue(value)) << type;
  const MetadataValue* array = metadata.find(fmt::format("array.{}", type));
  ASSERT_NE(array, nullptr) << type;
  EXPECT_EQ(*array, MetadataValue(std::vector<T>{value, value})) << type;
}

// The values that tests/fuzz/gguf_corpus.py writes in every_type().
TEST(GgufReader, ReadsEveryMetadataType) {
  const ModelFile model = open_corpus("every_type.gguf");
  const Metadata& m = model.metadata;
  expect_scalar_and_array(m, 0, uint8_t{200});
  expect_scalar_and_array(m, 1, int8_t{-100});
  expect_scalar_and_array(m, 2, uint16_t{60000});
  expect_scalar_and_array(m, 3, int16_t{-30000});
  expect_scalar_and_array(m, 4, uint32_t{4000000000});
  expect_scalar_and_array(m, 5, int32_t{-2000000000});
  expect_scalar_and_array(m, 6, 0.1f);
  expect_scalar_and_array(m, 7, true);
  expect_scalar_and_array(m, 8, std::string("안녕, tandem"));
  expect_scalar_and_array(m, 10, (uint64_t{1} << 63) + 1);
  expect_scalar_and_array(m, 11, std::numeric_limits<int64_t>::min());
  expect_scalar_and_array(m, 12, 0.1);
  EXPECT_EQ(*m.find("array.bools"), MetadataValue(std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(*m.find("array.empty"), MetadataValue(std::vector<std::string>{}));
  EXPECT_EQ(*m.find("키"), MetadataValue(std::string()));
  const auto* nested = std::get_if<NestedArray>(m.find("array.nested"));
  ASSERT_NE(nested, nullptr);
  EXPECT_EQ(nested->n_elements, 3u);
  // Outer head 12; [1, 2] 12 + 8; ["a", "나"] 12 + 9 + 11; [[]] 12 + 12.
  EXPECT_EQ(nested->encoded.size(), 12u + 20 + 32 + 24);
  EXPECT_EQ(m.entries().size(), 29u);
}

TEST(GgufReader, ReadsEveryTensorType) {
  const ModelFile model = open_corpus("every_dtype.gguf");
  ASSERT_EQ(model.tensors.size(), all_dtypes().size());
  uint64_t total = 0;
  for (const DTypeInfo& type : all_dtypes()) {
    const std::string name = fmt::format("blk.0.{}.weight", type.name);
    const TensorView* tensor = model.find(name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_EQ(tensor->type, type.type);
    EXPECT_EQ(tensor->n_elements(), type.block_size * 2u * 3u);
    ASSERT_EQ(tensor->bytes.size(), type.block_bytes * 2u * 3u);
    for (size_t i = 0; i < tensor->bytes.size(); ++i) {
      ASSERT_EQ(static_cast<size_t>(tensor->bytes[i]), (i * 7 + name.size()) % 251) << name << i;
    }
    total += tensor->bytes.size();
  }
  EXPECT_EQ(model.tensor_bytes(), total);
  EXPECT_EQ(model.find("none"), nullptr);
}

TEST(GgufReader, ReadsVersionsTwoAndThreeAlike) {
  const ModelFile v2 = open_corpus("v2.gguf");
  const ModelFile v3 = open_corpus("v3.gguf");
  ASSERT_EQ(v2.tensors.size(), 2u);
  ASSERT_EQ(v3.tensors.size(), 2u);
  EXPECT_EQ(v2.format, "GGUF v2");
  EXPECT_EQ(v3.format, "GGUF v3");
  EXPECT_EQ(v2.tensors[1].shape_text(), "[64, 2]");
  EXPECT_EQ(v2.metadata.entries(), v3.metadata.entries());
  EXPECT_TRUE(std::ranges::equal(v2.tensors[1].bytes, v3.tensors[1].bytes));
}

TEST(GgufReader, HonoursTheAlignmentOfTheFile) {
  const ModelFile plain = open_corpus("v3.gguf");
  const ModelFile wide = open_corpus("alignment_64.gguf");
  ASSERT_EQ(wide.tensors.size(), 2u);
  EXPECT_EQ((wide.tensors[1].bytes.data() - wide.files[0]->bytes().data()) % 64, 0);
  EXPECT_TRUE(std::ranges::equal(wide.tensors[1].bytes, plain.tensors[1].bytes));
}

TEST(GgufReader, OpensFilesWithoutTensors) {
  const ModelFile vocabulary = open_corpus("no_tensors.gguf");
  EXPECT_TRUE(vocabulary.tensors.empty());
  EXPECT_EQ(vocabulary.metadata.strings("tokenizer.ggml.tokens")->at(1), "▁안");
  EXPECT_TRUE(open_corpus("empty.gguf").metadata.entries().empty());
}

TEST(GgufReader, SplitPartsAreRefusedWhereOneFileIsNeeded) {
  const std::string part = read_test_file(gguf_corpus_path("split-00002-of-00003.gguf"));
  EXPECT_THAT(gguf_refusal(part, ErrorCode::kUnsupported), HasSubstr("part 2 of 3"));
  EXPECT_EQ(open_corpus("split-00002-of-00003.gguf").files.size(), 3u);
}

TEST(GgufReader, SaysWhatAnotherFileIs) {
  EXPECT_EQ(gguf_refusal("hello"),
            "m.gguf: not a GGUF file: it starts with 68 65 6c 6c instead of 'GGUF' (47 47 55 46)");
  EXPECT_THAT(gguf_refusal("version https://git-lfs.github.com/spec/v1\n"),
              HasSubstr("Git LFS pointer"));
  EXPECT_THAT(gguf_refusal("<!DOCTYPE html>"), HasSubstr("web page"));
  EXPECT_THAT(gguf_refusal(std::string(100, '\0')), HasSubstr("did not finish"));
  EXPECT_THAT(gguf_refusal("tjgg\3"), HasSubstr("GGJT"));
  EXPECT_THAT(gguf_refusal("GG"), HasSubstr("starts with 47 47 instead"));
  EXPECT_THAT(gguf_refusal("GGUF"), HasSubstr("version at byte 4 takes 4 bytes"));
}

TEST(GgufReader, UnsupportedVersionsAreNamed) {
  for (const uint32_t version : {0u, 1u, 4u}) {
    EXPECT_THAT(gguf_refusal(GgufBytes(0, 0, version).bytes(), ErrorCode::kUnsupported),
                HasSubstr(fmt::format("version {} is unsupported, known are 2 to 3", version)));
  }
}

TEST(GgufReader, CountsAreCheckedAgainstTheBytesThatRemain) {
  constexpr uint64_t kHuge = uint64_t{1} << 60;
  EXPECT_EQ(gguf_refusal(GgufBytes(kHuge, 0).bytes()),
            "m.gguf: header: number of tensors is 1152921504606846976, but the 8 bytes that remain "
            "hold at most 0");
  EXPECT_THAT(gguf_refusal(GgufBytes(0, kHuge).bytes()), HasSubstr("number of keys is"));
  const auto array = [&](GgufValueType type, uint64_t n) {
    return GgufBytes(0, 1).key("k", GgufValueType::kArray).number(type).number(n).zeros(64).bytes();
  };
  for (const auto type : {GgufValueType::kBool, GgufValueType::kString, GgufValueType::kArray,
                          GgufValueType::kU8, GgufValueType::kF64}) {
    EXPECT_THAT(gguf_refusal(array(type, kHuge)),
                AllOf(HasSubstr("key 'k': array length is 1152921504606846976"),
                      HasSubstr("64 bytes that remain")));
  }
  EXPECT_THAT(gguf_refusal(array(GgufValueType::kF64, 9)), HasSubstr("hold at most 8"));
  // The keys have eaten what the table of tensors would need.
  const std::string eaten = GgufBytes(2, 1).text_pair("k", std::string(80, 'x')).bytes();
  EXPECT_THAT(gguf_refusal(eaten), HasSubstr("number of tensors is 2, but the 0 bytes"));
}

TEST(GgufReader, KeysAreChecked) {
  const auto with_key = [](std::string_view key) {
    return GgufBytes(0, 1).u32_pair(key, 1).bytes();
  };
  EXPECT_TRUE(parse_gguf_bytes(with_key(std::string(65535, 'k'))));
  EXPECT_THAT(gguf_refusal(with_key(std::string(65536, 'k'))),
              HasSubstr("key 1 of 1: at byte 24: the name has 65536 bytes, the limit is 65535"));
  EXPECT_THAT(gguf_refusal(with_key("a\xff")), HasSubstr("byte 1 of the name (0xff) is not UTF-8"));
  EXPECT_THAT(gguf_refusal(with_key("a\x1b[2J")), HasSubstr("(0x1b) is a control character"));
  for (const char* bad : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xea\xb0", "\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_THAT(gguf_refusal(with_key(bad)), HasSubstr("is not UTF-8"));
  }
  for (const char* good : {"키.이름", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(parse_gguf_bytes(with_key(good)));
  }
  const std::string twice = GgufBytes(0, 2).u32_pair("k", 1).text_pair("k", "x").bytes();
  EXPECT_EQ(gguf_refusal(twice), "m.gguf: key 'k': it appears twice, again at byte 41");
}

TEST(GgufReader, ValuesAreChecked) {
  const auto pair = [](GgufValueType type) { return GgufBytes(0, 1).key("k", type); };
  EXPECT_THAT(gguf_refusal(pair(GgufValueType{13}).zeros(8).bytes()),
              HasSubstr("key 'k': value type 13 before byte 37 is unknown"));
  EXPECT_THAT(gguf_refusal(pair(GgufValueType::kBool).number(uint8_t{2}).bytes()),
              HasSubstr("key 'k': bool at byte 37 is 2, allowed are 0 and 1"));
  EXPECT_THAT(gguf_refusal(pair(GgufValueType::kF64).zeros(7).bytes()),
              HasSubstr("value at byte 37 takes 8 bytes, but the file ends at byte 44"));
  EXPECT_THAT(gguf_refusal(pair(GgufValueType::kString).number(uint64_t{9}).zeros(8).bytes()),
              HasSubstr("string at byte 45 takes 9 bytes"));
  EXPECT_THAT(
      gguf_refusal(pair(GgufValueType::kArray).number(uint32_t{99}).number(uint64_t{0}).bytes()),
      HasSubstr("value type 99"));
}

/// `n` arrays inside one another.
std::string nested_arrays(int n) {
  GgufBytes bytes(0, 1);
  bytes.key("k", GgufValueType::kArray);
  for (int i = 1; i < n; ++i) bytes.number(GgufValueType::kArray).number(uint64_t{1});
  return bytes.number(GgufValueType::kU8).number(uint64_t{0}).bytes();
}

TEST(GgufReader, NestingOfArraysIsBounded) {
  EXPECT_TRUE(parse_gguf_bytes(nested_arrays(kGgufMaxArrayDepth)));
  EXPECT_THAT(gguf_refusal(nested_arrays(kGgufMaxArrayDepth + 1)),
              HasSubstr("key 'k': arrays are nested deeper than 8 levels"));
  EXPECT_THAT(gguf_refusal(nested_arrays(100000)), HasSubstr("nested deeper"));
}

TEST(GgufReader, AlignmentIsChecked) {
  for (const uint32_t alignment : {0u, 1u, 4u, 33u, 1u << 21}) {
    const std::string bytes = GgufBytes(0, 1).u32_pair("general.alignment", alignment).bytes();
    EXPECT_THAT(
        gguf_refusal(bytes),
        HasSubstr(fmt::format("general.alignment is {}, which is not a power of two", alignment)));
  }
  const std::string text = GgufBytes(0, 1).text_pair("general.alignment", "32").bytes();
  EXPECT_THAT(gguf_refusal(text), HasSubstr("holds string, expected an integer"));
}

std::string one_tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                       uint64_t offset = 0) {
  return GgufBytes(1, 0).tensor(name, dims, type, offset).pad().zeros(256).bytes();
}

TEST(GgufReader, TensorEntriesAreChecked) {
  EXPECT_TRUE(parse_gguf_bytes(one_tensor("w", {32, 2}, kQ4_0)));
  EXPECT_THAT(gguf_refusal(one_tensor("w", {48, 2}, kQ4_0)),
              HasSubstr("tensor 'w': rows of 48 elements do not divide into Q4_0's blocks of 32"));
  EXPECT_THAT(gguf_refusal(one_tensor("w", {8}, kF32, 16)),
              HasSubstr("tensor 'w': its offset 16 is not a multiple of the alignment 32"));
  EXPECT_THAT(gguf_refusal(one_tensor("w", {}, kF32)), HasSubstr("it has 0 dimensions"));
  EXPECT_THAT(gguf_refusal(one_tensor("", {8}, kF32)),
              HasSubstr("tensor 1 of 1: at byte 24: the name is empty"));
  EXPECT_THAT(gguf_refusal(one_tensor(std::string(257, 'w'), {8}, kF32)),
              HasSubstr("257 bytes, the limit is 256"));
}

TEST(GgufReader, UnknownTensorTypesAreNamed) {
  EXPECT_EQ(gguf_refusal(one_tensor("w", {32}, 4), ErrorCode::kUnsupported),
            "m.gguf: tensor 'w': its type number 4 is Q4_2, which the format has dropped");
  EXPECT_THAT(gguf_refusal(one_tensor("w", {256}, 16), ErrorCode::kUnsupported),
              HasSubstr("type number 16 is IQ2_XXS, which Tandem does not support"));
  EXPECT_THAT(gguf_refusal(one_tensor("w", {256}, 4000000000), ErrorCode::kUnsupported),
              HasSubstr("type number 4000000000 is unknown"));
}

TEST(GgufReader, TensorsMayNotOverlap) {
  const std::string bytes = GgufBytes(2, 0)
                                .tensor("late", {8}, kF32, 32)
                                .tensor("early", {12}, kF32, 0)
                                .pad()
                                .zeros(64)
                                .bytes();
  EXPECT_EQ(gguf_refusal(bytes),
            "m.gguf: tensor 'late' at offset 32 overlaps tensor 'early' at offset 0 with 48 bytes");
}

TEST(GgufReader, GapsAndTrailingBytesAreAllowed) {
  const std::string bytes = GgufBytes(2, 0)
                                .tensor("a", {8}, kF32, 64)
                                .tensor("b", {8}, kF32, 0)
                                .pad()
                                .zeros(96 + 1000)
                                .bytes();
  EXPECT_TRUE(parse_gguf_bytes(bytes));
}

TEST(GgufReader, MissingFileIsNotFound) {
  const auto missing = open_gguf("/nonexistent/모델.gguf");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/nonexistent/모델.gguf"));
}

}  // namespace
}  // namespace tandem
