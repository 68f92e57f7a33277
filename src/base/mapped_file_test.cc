#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/buffer.h"

namespace tandem {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::path(testing::TempDir()) / "tandem_모델";
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return dir_ / name;
  }

  std::filesystem::path dir_;
};

TEST_F(MappedFileTest, ReadsTheWholeFileUnderANonAsciiPath) {
  const auto file = MappedFile::open(write("a.bin", "hello"));
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ((*file)->bytes().size(), 5u);
  EXPECT_EQ((*file)->bytes()[4], std::byte('o'));
}

TEST_F(MappedFileTest, DroppedPagesReadTheSameAgain) {
  const std::string text(1 << 20, 'x');
  const auto file = MappedFile::open(write("big.bin", text));
  ASSERT_TRUE(file);
  (*file)->drop_pages((*file)->bytes());
  EXPECT_EQ((*file)->bytes()[text.size() / 2], std::byte('x'));
}

TEST_F(MappedFileTest, AViewOfMemoryKeepsItsBytes) {
  auto memory = Buffer::allocate(1 << 20, "test");
  ASSERT_TRUE(memory);
  memory->data()[5000] = std::byte('y');
  const auto file = MappedFile::view("memory", memory->bytes());
  file->drop_pages(file->bytes());
  EXPECT_EQ(file->bytes()[5000], std::byte('y'));
}

TEST_F(MappedFileTest, NamesThePathAndTheReason) {
  const auto missing = MappedFile::open(dir_ / "none.gguf");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("none.gguf"), std::string::npos);
  const auto folder = MappedFile::open(dir_);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kIo);
  const auto empty = MappedFile::open(write("empty.bin", ""));
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kCorruptFile);
}

}  // namespace
}  // namespace tandem
