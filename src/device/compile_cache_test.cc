#include "device/compile_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace tandem {
namespace {

namespace fs = std::filesystem;

class CompileCacheTest : public ::testing::Test {
 protected:
  CompileCacheTest()
      : folder(fs::path(::testing::TempDir()) / fmt::format("tandem-cache-{}", getpid())),
        cache(folder.string()) {}
  ~CompileCacheTest() override { fs::remove_all(folder); }

  std::vector<std::byte> code(const char* text) {
    const auto bytes = std::as_bytes(std::span(text, std::char_traits<char>::length(text)));
    return {bytes.begin(), bytes.end()};
  }

  fs::path folder;
  CompileCache cache;
  CompileKey key{
      {"chip", "x"},    {"driver", "2.27"},      {"model", "m"},     {"quantization", "w4a8"},
      {"shapes", "64"}, {"options", "a=1\nb\\"}, {"segment", "3..7"}};
};

TEST_F(CompileCacheTest, GivesBackWhatWasStored) {
  EXPECT_EQ(cache.find(key).reason, "no entry");
  ASSERT_TRUE(cache.store(key, code("compiled")));
  const auto found = cache.find(key);
  ASSERT_TRUE(found.code) << found.reason;
  EXPECT_EQ(*found.code, code("compiled"));
  ASSERT_TRUE(cache.store(key, code("")));
  EXPECT_TRUE(cache.find(key).code->empty());
}

// Bare numbers when chip, driver or options differ from the cached binary's (ai-hub-models issue
// 101).
TEST_F(CompileCacheTest, FieldReportH05AnyOtherFieldIsAnotherEntry) {
  ASSERT_TRUE(cache.store(key, code("compiled")));
  for (size_t i = 0; i < key.size(); ++i) {
    CompileKey other = key;
    other[i].second += "'";
    EXPECT_EQ(cache.find(other).reason, "no entry") << key[i].first;
    // And should a file of another key lie there, it says which field differs.
    fs::copy_file(cache.path_of(key), cache.path_of(other));
    const auto found = cache.find(other);
    EXPECT_FALSE(found.code);
    EXPECT_NE(found.reason.find("the entry's " + key[i].first + " is "), std::string::npos)
        << found.reason;
  }
  CompileKey longer = key;
  longer.push_back({"new", "1"});
  fs::copy_file(cache.path_of(key), cache.path_of(longer));
  EXPECT_EQ(cache.find(longer).reason, "the entry's key has other fields");
}

TEST_F(CompileCacheTest, FieldReportH05DamageIsFoundAtEveryByte) {
  ASSERT_TRUE(cache.store(key, code("compiled")));
  const std::string path = cache.path_of(key);
  std::string whole;
  {
    std::ifstream in(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    write(whole.substr(0, i));
    EXPECT_FALSE(cache.find(key).code) << "cut at " << i;
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(damaged);
    EXPECT_FALSE(cache.find(key).code) << "bit flipped in byte " << i;
  }
  write(whole + "x");
  EXPECT_FALSE(cache.find(key).code);
  ASSERT_TRUE(cache.store(key, code("again"))) << "a damaged entry is replaced";
  EXPECT_EQ(*cache.find(key).code, code("again"));
}

TEST_F(CompileCacheTest, FieldReportH05TwoThatStartTogetherDoNotSpoilIt) {
  const std::vector<std::byte> large(100'000, std::byte{7});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const CompileCache mine(folder.string());
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(mine.store(key, large));
        const auto found = mine.find(key);
        EXPECT_TRUE(found.code && *found.code == large) << found.reason;
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace tandem
