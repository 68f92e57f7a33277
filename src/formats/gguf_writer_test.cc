#include "formats/gguf_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "formats/gguf_test_bytes.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using Random = std::mt19937_64;

/// A tensor with contents of its own.
struct Sample {
  std::string name;
  DType type;
  std::vector<uint64_t> dims;
  std::vector<std::byte> bytes;

  TensorToWrite to_write() const {
    return {name, type, dims, [this]() -> Result<std::span<const std::byte>> { return bytes; }};
  }
};

std::vector<TensorToWrite> to_write(const std::vector<Sample>& samples) {
  std::vector<TensorToWrite> tensors;
  for (const Sample& sample : samples) tensors.push_back(sample.to_write());
  return tensors;
}

Sample random_tensor(Random& random, size_t index) {
  const DTypeInfo& type = all_dtypes()[random() % all_dtypes().size()];
  Sample sample{
      fmt::format("blk.{}.텐서", index), type.type, {(random() % 3 + 1) * type.block_size}, {}};
  while (sample.dims.size() < random() % 4 + 1) sample.dims.push_back(random() % 5 + 1);
  uint64_t n_elements = 1;
  for (const uint64_t dim : sample.dims) n_elements *= dim;
  sample.bytes.resize(n_elements / type.block_size * type.block_bytes);
  for (std::byte& b : sample.bytes) b = static_cast<std::byte>(random());
  return sample;
}

template <class T>
MetadataValue random_number(Random& random, size_t n) {
  // Small integers convert exactly to every type, so that values compare with ==.
  if (n == 0) return static_cast<T>(random() % 100);
  std::vector<T> array(n - 1);
  for (T& x : array) x = static_cast<T>(random() % 100);
  return array;
}

std::string random_text(Random& random) {
  std::string text(random() % 40, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

/// A scalar when `n` is 0, otherwise an array of n - 1 elements.
MetadataValue random_value(Random& random, size_t n) {
  switch (random() % 12) {
    case 0:
      return random_number<uint8_t>(random, n);
    case 1:
      return random_number<int8_t>(random, n);
    case 2:
      return random_number<uint16_t>(random, n);
    case 3:
      return random_number<int16_t>(random, n);
    case 4:
      return random_number<uint32_t>(random, n);
    case 5:
      return random_number<int32_t>(random, n);
    case 6:
      return random_number<uint64_t>(random, n);
    case 7:
      return random_number<int64_t>(random, n);
    case 8:
      return random_number<float>(random, n);
    case 9:
      return random_number<double>(random, n);
    case 10:
      return std::vector<bool>(n, random() % 2 == 0);
    default:
      break;
  }
  if (n == 0) return random_text(random);
  return std::vector<std::string>(n - 1, random_text(random));
}

void expect_same(const ModelFile& model, const Metadata& metadata,
                 const std::vector<Sample>& samples) {
  EXPECT_EQ(model.metadata.entries(), metadata.entries());
  ASSERT_EQ(model.tensors.size(), samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(model.tensors[i].name, samples[i].name);
    EXPECT_EQ(model.tensors[i].type, samples[i].type);
    EXPECT_EQ(model.tensors[i].dims, samples[i].dims);
    EXPECT_TRUE(std::ranges::equal(model.tensors[i].bytes, samples[i].bytes)) << samples[i].name;
  }
}

TEST(GgufWriter, WhatIsWrittenReadsBackTheSame) {
  const TestFolder folder;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Metadata metadata;
    const size_t n_pairs = random() % 20;
    for (size_t i = 0; i < n_pairs; ++i) {
      metadata.set(fmt::format("key.{}", random() % 1000), random_value(random, random() % 6));
    }
    if (random() % 2 == 0) metadata.set("general.alignment", uint32_t{8} << random() % 8);
    std::vector<Sample> samples;
    const size_t n_tensors = random() % 6;
    for (size_t i = 0; i < n_tensors; ++i) samples.push_back(random_tensor(random, i));

    const auto written = write_gguf(folder.path("m.gguf"), metadata, to_write(samples));
    ASSERT_TRUE(written) << "seed " << seed << ": " << written.error().message;
    const auto model = open_gguf(folder.path("m.gguf"));
    ASSERT_TRUE(model) << "seed " << seed << ": " << model.error().message;
    SCOPED_TRACE(seed);
    expect_same(*model, metadata, samples);
  }
}

TEST(GgufWriter, ReproducesTheIndependentFilesByteForByte) {
  const TestFolder folder;
  for (const char* name : {"every_dtype.gguf", "v3.gguf", "dims_4.gguf", "no_tensors.gguf",
                           "empty.gguf", "alignment_64.gguf"}) {
    const auto model = open_gguf(gguf_corpus_path(name));
    ASSERT_TRUE(model) << model.error().message;
    std::vector<TensorToWrite> tensors;
    for (const TensorView& t : model->tensors) {
      tensors.push_back({t.name, t.type, t.dims,
                         [&t]() -> Result<std::span<const std::byte>> { return t.bytes; }});
    }
    ASSERT_TRUE(write_gguf(folder.path(name), model->metadata, tensors));
    EXPECT_EQ(read_test_file(folder.path(name)), read_test_file(gguf_corpus_path(name))) << name;
  }
}

TEST(GgufWriter, KeepsEveryMetadataType) {
  const TestFolder folder;
  const auto model = open_gguf(gguf_corpus_path("every_type.gguf"));
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_TRUE(write_gguf(folder.path("m.gguf"), model->metadata, {}));
  const auto again = open_gguf(folder.path("m.gguf"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->metadata.entries(), model->metadata.entries());
}

TEST(GgufWriter, ArchitectureComesFirst) {
  const TestFolder folder;
  Metadata metadata;
  metadata.set("a.key", uint32_t{1});
  metadata.set("general.architecture", std::string("llama"));
  ASSERT_TRUE(write_gguf(folder.path("m.gguf"), metadata, {}));
  const std::string bytes = read_test_file(folder.path("m.gguf"));
  EXPECT_LT(bytes.find("general.architecture"), bytes.find("a.key"));
}

TEST(GgufWriter, ReportsProgressAndHoldsOneTensorAtATime) {
  const TestFolder folder;
  std::vector<std::byte> scratch(128);
  std::vector<TensorToWrite> tensors;
  for (int i = 0; i < 3; ++i) {
    tensors.push_back({fmt::format("t{}", i),
                       DType::kF32,
                       {32},
                       [&scratch, i]() -> Result<std::span<const std::byte>> {
                         std::ranges::fill(scratch, static_cast<std::byte>(i));
                         return scratch;
                       }});
  }
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  const auto note = [&](uint64_t done, uint64_t total) { steps.emplace_back(done, total); };
  ASSERT_TRUE(write_gguf(folder.path("m.gguf"), Metadata(), tensors, note));
  const uint64_t size = std::filesystem::file_size(folder.path("m.gguf"));
  EXPECT_THAT(steps, ElementsAre(Pair(size - 256, size), Pair(size - 128, size), Pair(size, size)));
  const auto model = open_gguf(folder.path("m.gguf"));
  ASSERT_TRUE(model);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(model->tensors[i].bytes[5], static_cast<std::byte>(i));
}

TEST(GgufWriter, AFailedTensorLeavesTheOldFileAlone) {
  const TestFolder folder;
  const std::string path = folder.write("m.gguf", "old");
  const std::vector<TensorToWrite> failing{
      {"w", DType::kF32, {8}, []() -> Result<std::span<const std::byte>> {
         return failure(ErrorCode::kNumeric, "no bytes");
       }}};
  const auto written = write_gguf(path, Metadata(), failing);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "no bytes");
  EXPECT_EQ(read_test_file(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path("")), {}), 1);
}

std::string refusal(const Metadata& metadata, const std::vector<Sample>& samples) {
  const TestFolder folder;
  const auto written = write_gguf(folder.path("m.gguf"), metadata, to_write(samples));
  EXPECT_FALSE(written.has_value());
  EXPECT_FALSE(std::filesystem::exists(folder.path("m.gguf")));
  if (written) return "(it was written)";
  EXPECT_EQ(written.error().code, ErrorCode::kInvalidArgument);
  return written.error().message;
}

TEST(GgufWriter, RefusesWhatNoReaderWouldAccept) {
  const std::vector<std::byte> row(32);
  EXPECT_THAT(refusal({}, {{"w", DType::kF32, {4}, row}}),
              HasSubstr("tensor 'w': 32 bytes were produced, expected 16"));
  EXPECT_THAT(refusal({}, {{"w", DType::kF32, {8}, row}, {"w", DType::kF32, {8}, row}}),
              HasSubstr("two tensors have this name"));
  EXPECT_THAT(refusal({}, {{"w", DType::kQ4_0, {31}, row}}), HasSubstr("blocks of 32"));
  EXPECT_THAT(refusal({}, {{"w", DType::kF32, {1, 1, 1, 1, 8}, row}}), HasSubstr("5 dimensions"));
  EXPECT_THAT(refusal({}, {{"", DType::kF32, {8}, row}}), HasSubstr("the name is empty"));
  // Each size fits, their sum does not.
  const Sample half{"a", DType::kI8, {std::numeric_limits<int64_t>::max() / 32 * 32}, {}};
  Sample other = half;
  other.name = "b";
  EXPECT_THAT(refusal({}, {half, other}), HasSubstr("tensor 'b': the tensors so far take"));
}

TEST(GgufWriter, RefusesBadMetadata) {
  Metadata key;
  key.set("a\n", uint32_t{1});
  EXPECT_THAT(refusal(key, {}), HasSubstr("control character"));
  Metadata alignment;
  alignment.set("general.alignment", uint32_t{24});
  EXPECT_THAT(refusal(alignment, {}), HasSubstr("general.alignment is 24"));
  Metadata nested;
  nested.set("k", NestedArray{1, std::vector<std::byte>(5)});
  EXPECT_THAT(refusal(nested, {}), AllOf(HasSubstr("key 'k'"), HasSubstr("nested array")));
}

}  // namespace
}  // namespace tandem
