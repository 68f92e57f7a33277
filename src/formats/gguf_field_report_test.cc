// Failures that users of other runtimes reported, each as the smallest file that shows it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/gguf_test_bytes.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

constexpr auto kF32 = static_cast<uint32_t>(DType::kF32);

std::string with_one_tensor(const std::vector<uint64_t>& dims) {
  return GgufBytes(1, 0).tensor("blk.0.ffn_up.weight", dims, kF32, 0).pad().zeros(64).bytes();
}

TEST(GgufFieldReport, A01_CutShortFileNamesTensorEndAndFileSize) {
  std::string bytes = GgufBytes(2, 0)
                          .tensor("a", {8}, kF32, 0)
                          .tensor("b", {64, 2}, kF32, 32)
                          .pad()
                          .zeros(32 + 512)
                          .bytes();
  ASSERT_TRUE(parse_gguf_bytes(bytes));
  const size_t full = bytes.size();
  bytes.resize(full - 100);
  EXPECT_EQ(gguf_refusal(bytes), fmt::format("m.gguf: tensor 'b': its 512 bytes end at byte {}, "
                                             "but the file has only {} bytes (cut short?)",
                                             full, full - 100));
}

TEST(GgufFieldReport, A01_EveryTruncationIsRefused) {
  const std::string whole = read_test_file(gguf_corpus_path("every_dtype.gguf"));
  // The last tensor is padded, and a file may lack that padding.
  const auto model = parse_gguf_bytes(whole);
  ASSERT_TRUE(model) << model.error().message;
  const auto& last = model->tensors.back().bytes;
  const size_t needed = last.data() + last.size() - model->files[0]->bytes().data();
  for (size_t n = 1; n < needed; ++n) gguf_refusal(whole.substr(0, n));
  EXPECT_TRUE(parse_gguf_bytes(whole.substr(0, needed)));
}

TEST(GgufFieldReport, A02_ProductOfDimensionsBeyond64Bits) {
  EXPECT_THAT(gguf_refusal(with_one_tensor({4, uint64_t{1} << 62})),
              AllOf(HasSubstr("tensor 'blk.0.ffn_up.weight'"), HasSubstr("2^63")));
  // The product of the dimensions fits, its bytes do not.
  EXPECT_THAT(gguf_refusal(with_one_tensor({uint64_t{1} << 62})), HasSubstr("2^63"));
}

TEST(GgufFieldReport, A02_ZeroDimension) {
  EXPECT_THAT(
      gguf_refusal(with_one_tensor({8, 0})),
      AllOf(HasSubstr("tensor 'blk.0.ffn_up.weight'"), HasSubstr("a dimension of [8, 0] is zero")));
}

TEST(GgufFieldReport, A02_FiveDimensions) {
  EXPECT_THAT(gguf_refusal(with_one_tensor({1, 1, 1, 1, 1})),
              AllOf(HasSubstr("tensor 'blk.0.ffn_up.weight'"),
                    HasSubstr("it has 5 dimensions, allowed are 1 to 4")));
}

TEST(GgufFieldReport, A02_OffsetThatWrapsTheSum) {
  // off + size is 0 modulo 2^64.
  const std::string bytes =
      GgufBytes(1, 0).tensor("w", {8}, kF32, ~uint64_t{0} - 31).pad().zeros(32).bytes();
  EXPECT_THAT(gguf_refusal(bytes), HasSubstr("end at byte 18446744073709551"));
}

TEST(GgufFieldReport, A05_EmptyKey) {
  const std::string bytes = GgufBytes(0, 1).u32_pair("", 1).bytes();
  EXPECT_THAT(gguf_refusal(bytes), AllOf(HasSubstr("key 1 of 1"), HasSubstr("the name is empty")));
}

TEST(GgufFieldReport, A05_TwoTensorsOfOneName) {
  const std::string bytes = GgufBytes(2, 0)
                                .tensor("blk.0.attn_q.weight", {8}, kF32, 0)
                                .tensor("blk.0.attn_q.weight", {8}, kF32, 32)
                                .pad()
                                .zeros(64)
                                .bytes();
  EXPECT_EQ(gguf_refusal(bytes),
            "m.gguf: tensor 'blk.0.attn_q.weight': two tensors have this name");
}

/// A part of a split model with one tensor.
std::string part(uint32_t number, uint32_t count, const std::string& tensor, uint32_t n_tensors) {
  return GgufBytes(1, 4)
      .text_pair("general.architecture", "llama")
      .u32_pair("split.no", number)
      .u32_pair("split.count", count)
      .u32_pair("split.tensors.count", n_tensors)
      .tensor(tensor, {8}, kF32, 0)
      .pad()
      .zeros(32)
      .bytes();
}

class GgufSplitReport : public testing::Test {
 protected:
  void SetUp() override {
    for (uint32_t i = 0; i < 3; ++i) {
      parts_.push_back(part(i, 3, fmt::format("blk.{}.attn_q.weight", i), 3));
      paths_.push_back(folder_.write(fmt::format("m-{:05}-of-00003.gguf", i + 1), parts_[i]));
    }
  }
  std::string refusal(const std::string& path, ErrorCode code = ErrorCode::kCorruptFile) {
    const auto model = open_gguf(path);
    EXPECT_FALSE(model.has_value());
    if (model) return "(it was accepted)";
    EXPECT_EQ(model.error().code, code);
    return model.error().message;
  }

  TestFolder folder_;
  std::vector<std::string> parts_;
  std::vector<std::string> paths_;
};

TEST_F(GgufSplitReport, A05_OneTensorNameInTwoParts) {
  folder_.write("m-00003-of-00003.gguf", part(2, 3, "blk.0.attn_q.weight", 3));
  EXPECT_EQ(refusal(paths_[1]),
            paths_[2] + ": tensor 'blk.0.attn_q.weight' is also in " + paths_[0]);
}

TEST_F(GgufSplitReport, A06_AnyPartOpensTheWholeModel) {
  for (const std::string& path : paths_) {
    const auto model = open_gguf(path);
    ASSERT_TRUE(model) << model.error().message;
    ASSERT_EQ(model->files.size(), 3u);
    ASSERT_EQ(model->tensors.size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(model->files[i]->path(), paths_[i]);
      EXPECT_EQ(model->tensors[i].file, i);
      EXPECT_EQ(model->tensors[i].name, fmt::format("blk.{}.attn_q.weight", i));
    }
  }
}

TEST_F(GgufSplitReport, A06_MissingPartIsNamedAndCounted) {
  std::filesystem::remove(paths_[1]);
  EXPECT_EQ(refusal(paths_[2], ErrorCode::kNotFound),
            paths_[2] + ": 1 of the model's 3 parts is missing: " + paths_[1]);
  std::filesystem::remove(paths_[0]);
  EXPECT_THAT(refusal(paths_[2], ErrorCode::kNotFound),
              EndsWith("2 of the model's 3 parts are missing: " + paths_[0] + ", " + paths_[1]));
}

TEST_F(GgufSplitReport, A06_ManyMissingPartsAreCountedAndTheFirstOnesNamed) {
  const std::string path = folder_.write("n-00001-of-00400.gguf", part(0, 400, "w", 400));
  EXPECT_THAT(refusal(path, ErrorCode::kNotFound),
              AllOf(HasSubstr("399 of the model's 400 parts are missing: "),
                    HasSubstr("n-00006-of-00400.gguf, ...")));
}

TEST_F(GgufSplitReport, A06_JoinedPartsAreRecognised) {
  const std::string joined = folder_.write("m.gguf", parts_[0] + parts_[1] + parts_[2]);
  EXPECT_THAT(refusal(joined), AllOf(HasSubstr("concatenation of split parts"),
                                     HasSubstr("part 1 of 3 ends at byte"),
                                     HasSubstr(std::to_string(parts_[0].size()))));
  // Also under the name of a part.
  folder_.write("m-00001-of-00003.gguf", parts_[0] + parts_[1] + parts_[2]);
  EXPECT_THAT(refusal(paths_[2]), HasSubstr("concatenation of split parts"));
}

TEST_F(GgufSplitReport, A06_JoinedPartsWithoutFinalPadding) {
  // 3 floats: 12 bytes that the next file follows at once.
  const std::string unpadded = GgufBytes(1, 3)
                                   .u32_pair("split.no", 0)
                                   .u32_pair("split.count", 3)
                                   .u32_pair("split.tensors.count", 3)
                                   .tensor("w", {3}, kF32, 0)
                                   .pad()
                                   .zeros(12)
                                   .bytes();
  EXPECT_THAT(refusal(folder_.write("m.gguf", unpadded + parts_[1])),
              HasSubstr("concatenation of split parts"));
}

TEST_F(GgufSplitReport, A06_TensorCountMustMatchTheSum) {
  for (uint32_t i = 0; i < 3; ++i) {
    folder_.write(fmt::format("m-{:05}-of-00003.gguf", i + 1),
                  part(i, 3, fmt::format("blk.{}.attn_q.weight", i), 4));
  }
  EXPECT_THAT(refusal(paths_[0]),
              HasSubstr("split.tensors.count says 4 tensors, but the 3 parts hold 3"));
}

TEST_F(GgufSplitReport, A06_RenamedPartSaysWhatTheNameMustBe) {
  const std::string renamed = folder_.write("renamed.gguf", parts_[1]);
  EXPECT_THAT(refusal(renamed), AllOf(HasSubstr("part 2 of 3 of a split model"),
                                      HasSubstr("must end in -00002-of-00003.gguf")));
}

TEST_F(GgufSplitReport, A06_PartOfAnotherModelIsRefused) {
  folder_.write("m-00002-of-00003.gguf", part(2, 3, "w", 3));
  EXPECT_THAT(refusal(paths_[0]), AllOf(HasSubstr(paths_[1]), HasSubstr("another model")));
  folder_.write("m-00002-of-00003.gguf", GgufBytes(0, 0).bytes());
  EXPECT_THAT(refusal(paths_[0]), AllOf(HasSubstr(paths_[1]), HasSubstr("another model")));
}

TEST(GgufFieldReport, A13_OppositeByteOrderIsNamed) {
  std::string bytes = GgufBytes(0, 0, 0x03000000).bytes();
  const std::string message = gguf_refusal(bytes, ErrorCode::kUnsupported);
  EXPECT_THAT(message, AllOf(HasSubstr("opposite byte order"), HasSubstr("version 3"),
                             testing::Not(HasSubstr("50331648"))));
  EXPECT_THAT(gguf_refusal("FUGG" + bytes.substr(4), ErrorCode::kUnsupported),
              HasSubstr("opposite byte order"));
}

}  // namespace
}  // namespace tandem
