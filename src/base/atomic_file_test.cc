#include "base/atomic_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tandem {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

size_t n_entries(const std::filesystem::path& dir) {
  return std::distance(std::filesystem::directory_iterator(dir), {});
}

TEST(AtomicFile, KeepsTheOldFileUntilCommit) {
  const auto dir = std::filesystem::path(testing::TempDir()) / "tandem_atomic";
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  const auto path = dir / "out.txt";
  std::ofstream(path) << "old";
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("half"));
    EXPECT_EQ(read_text(path), "old");
  }
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(n_entries(dir), 1u) << "an abandoned temporary file stayed behind";

  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new"));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_text(path), "new");
  EXPECT_EQ(n_entries(dir), 1u);
  std::filesystem::remove_all(dir);
}

TEST(AtomicFile, NamesAFolderThatDoesNotExist) {
  const auto file = AtomicFile::create("/nonexistent/out.txt");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kIo);
  EXPECT_NE(file.error().message.find("/nonexistent/out.txt"), std::string::npos);
}

}  // namespace
}  // namespace tandem
