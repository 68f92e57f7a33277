// Low planes: found, refused when anything about them is wrong, and never looked at by others.

#include "formats/nested_section.h"

#include <gmock/gmock.h>

#include <cstring>

#include "base/hash.h"
#include "formats/nested_test_file.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

std::string nested_bytes() {
  const TestFolder folder;
  EXPECT_TRUE(write_nested_test_file(folder.path("m.gguf")));
  return read_test_file(folder.path("m.gguf"));
}

std::string refusal(const std::string& bytes) {
  const auto model = open_nested_bytes(bytes);
  EXPECT_FALSE(model.has_value());
  return model ? "(it was accepted)" : model.error().message;
}

size_t section_start(const std::string& bytes) { return bytes.find(kNestedMagic); }

template <class T>
std::string with_number(std::string bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

/// Makes the table's checksum right again after a change.
std::string resealed(std::string bytes) {
  const size_t start = section_start(bytes);
  const std::span all = std::as_bytes(std::span(bytes));
  constexpr size_t kTableBytes = 2 * (8 + 1 + 4 + 4 + 8 + 8 + 8);
  const uint64_t header = content_hash(all.subspan(start, 24));
  return with_number(std::move(bytes), start + 24,
                     content_hash(all.subspan(start + 32, kTableBytes), header));
}

TEST(NestedSection, IsFoundBehindTheTensors) {
  const std::string bytes = nested_bytes();
  const auto model = open_nested_bytes(bytes);
  ASSERT_TRUE(model) << model.error().message;
  const TensorView& a = model->tensors[0];
  ASSERT_NE(a.nested, nullptr);
  EXPECT_EQ(model->tensors[1].nested, nullptr);
  ASSERT_NE(model->tensors[2].nested, nullptr);
  EXPECT_EQ(a.nested->shift, 4u);
  EXPECT_EQ(model->tensors[2].nested->shift, 3u);
  EXPECT_EQ(a.nested->rows, 5u);
  EXPECT_EQ(a.nested->columns, 64u);
  EXPECT_EQ(a.nested->high.data(), a.bytes.data());
  const NestedTestTensor expected("a", 5, 4);
  EXPECT_EQ(std::memcmp(a.nested->low.data(), expected.low.data(), 160), 0);
  ThreadPool pool(2);
  EXPECT_TRUE(verify_nested(*a.nested, pool));
  EXPECT_TRUE(verify_nested(*model->tensors[2].nested, pool));
}

TEST(NestedSection, OtherReadersSeeQ4_0Tensors) {
  const std::string bytes = nested_bytes();
  const auto model = parse_gguf_bytes(bytes);
  ASSERT_TRUE(model);
  ASSERT_EQ(model->tensors.size(), 3u);
  for (const TensorView& t : model->tensors) EXPECT_EQ(t.type, DType::kQ4_0);
}

/// A file made from docs/nested_format.md by tests/fuzz/nested_corpus.py, not by our writer.
TEST(NestedSection, AFileMadeFromTheDescriptionOpensAndVerifies) {
  const std::string bytes = read_test_file(TANDEM_SOURCE_DIR "/tests/fuzz/corpus/nested/good.gguf");
  const auto model = open_nested_bytes(bytes);
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_NE(model->tensors[0].nested, nullptr);
  ThreadPool pool(1);
  const auto verified = verify_nested(*model->tensors[0].nested, pool);
  EXPECT_TRUE(verified) << verified.error().message;
}

TEST(NestedSection, TheSameInputGivesTheSameBytes) { EXPECT_EQ(nested_bytes(), nested_bytes()); }

TEST(NestedSection, LosingTheTailIsAnErrorWithAWayOut) {
  const std::string bytes = nested_bytes();
  for (const size_t cut : {bytes.size() - section_start(bytes), size_t{1}}) {
    const std::string lost = bytes.substr(0, bytes.size() - cut);
    EXPECT_THAT(refusal(lost), AllOf(HasSubstr("m.gguf"), HasSubstr("a tool that rewrites"),
                                     HasSubstr("--accept-int4"), HasSubstr("--add-refinement")));
    const auto accepted = open_nested_bytes(lost, MissingPlanes::kAccept);
    ASSERT_TRUE(accepted);
    EXPECT_EQ(accepted->tensors[0].nested, nullptr);
  }
}

TEST(NestedSection, EveryDamagedByteOfHeaderAndTableIsNoticed) {
  const std::string bytes = nested_bytes();
  const size_t start = section_start(bytes);
  for (size_t i = start; i < start + 32 + 82; ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_FALSE(open_nested_bytes(damaged)) << i - start;
  }
}

TEST(NestedSection, ASealedTableIsStillChecked) {
  const std::string bytes = nested_bytes();
  const size_t entry = section_start(bytes) + 32, shift = entry + 9, offset = shift + 8;
  EXPECT_THAT(refusal(resealed(with_number(bytes, shift, uint32_t{5}))), HasSubstr("e = 5"));
  EXPECT_THAT(refusal(resealed(with_number(bytes, shift + 4, uint32_t{1}))), HasSubstr("reserved"));
  EXPECT_THAT(refusal(resealed(with_number(bytes, offset, uint64_t{64}))), HasSubstr("overlap"));
  EXPECT_THAT(refusal(resealed(with_number(bytes, offset, ~uint64_t{63}))), HasSubstr("leave"));
  EXPECT_THAT(refusal(resealed(with_number(bytes, offset + 8, ~uint64_t{0}))), HasSubstr("leave"));
  EXPECT_THAT(refusal(resealed(with_number(bytes, offset + 8, uint64_t{128}))),
              HasSubstr("128 bytes of low plane, expected Q4_0 and 160"));
  EXPECT_THAT(refusal(resealed(with_number(bytes, entry + 8, 'x'))),
              HasSubstr("'x', which is missing"));
  EXPECT_THAT(refusal(resealed(with_number(bytes, entry + 8, 'c'))), HasSubstr("two low planes"));
}

TEST(NestedSection, APlaneThatChangedIsNoticedWhenUsed) {
  const std::string bytes = nested_bytes();
  const auto model = open_nested_bytes(bytes);
  ASSERT_TRUE(model);
  ThreadPool pool(2);
  for (const std::span<const std::byte> plane :
       {model->tensors[0].nested->high, model->tensors[0].nested->low}) {
    std::string damaged = bytes;
    damaged[reinterpret_cast<const char*>(plane.data()) - bytes.data() + 33] ^= 4;
    const auto reopened = open_nested_bytes(damaged);
    ASSERT_TRUE(reopened);
    const auto outcome = verify_nested(*reopened->tensors[0].nested, pool);
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message,
                AllOf(HasSubstr("m.gguf: tensor 'a'"), HasSubstr("checksum")));
  }
}

TEST(NestedSection, EachOfTheEightInvalidPairsIsRefused) {
  for (int l = -8; l < 8; ++l) {
    NestedTestTensor t("t", 3, 4);
    // Row 2, group 1, element 19: h = -8.
    t.high[5 * 18 + 2 + 3] &= std::byte{0x0f};
    t.low[5 * 16 + 3] =
        (t.low[5 * 16 + 3] & std::byte{0x0f}) | static_cast<std::byte>((l + 8) << 4);
    NestedTensor nested;
    nested.name = "m.gguf: tensor 't'";
    nested.rows = 3;
    nested.columns = 64;
    nested.high = t.high;
    nested.low = t.low;
    nested.checksum = t.checksum();
    ThreadPool pool(1);
    const auto outcome = verify_nested(nested, pool);
    ASSERT_EQ(outcome.has_value(), l >= 0) << l;
    if (l < 0) {
      EXPECT_THAT(outcome.error().message,
                  HasSubstr("tensor 't': row 2, group 1, element 19: h is -8"));
    }
    nested.shift = 3;
    EXPECT_TRUE(verify_nested(nested, pool)) << "at e = 3 every pair is valid";
  }
}

TEST(NestedSection, ASidecarBelongsToItsModel) {
  const TestFolder folder;
  const std::string path = folder.path("m.gguf"), sidecar = folder.path("m.low");
  ASSERT_TRUE(write_nested_test_file(path, sidecar));
  const auto open = [&] {
    auto file = open_gguf(path);
    EXPECT_TRUE(file);
    const auto outcome = attach_low_planes(*file, MissingPlanes::kRefuse);
    return outcome ? "" : outcome.error().message;
  };
  EXPECT_EQ(open(), "");
  const std::string bytes = read_test_file(sidecar);
  folder.write("m.low", bytes + "more");
  EXPECT_THAT(open(), HasSubstr("length"));
  std::filesystem::remove(sidecar);
  EXPECT_THAT(open(), AllOf(HasSubstr("the low planes are missing"), HasSubstr("m.low")));
}

TEST(NestedSection, ASidecarOutsideTheFolderIsRefused) {
  std::string bytes = nested_bytes();
  const TestFolder folder;
  ASSERT_TRUE(write_nested_test_file(folder.path("m.gguf"), folder.path("xx.low")));
  bytes = read_test_file(folder.path("m.gguf"));
  bytes.replace(bytes.find("xx.low"), 3, "../");
  EXPECT_THAT(refusal(bytes), HasSubstr("must be the name of a file"));
}

}  // namespace
}  // namespace tandem
