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

  /// The bytes of an entry; null when there is none.
  static std::optional<std::vector<std::byte>> code_of(const CompileCache::Lookup& found) {
    if (!found.entry) return std::nullopt;
    return std::vector<std::byte>(found.entry->code.begin(), found.entry->code.end());
  }
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
  ASSERT_TRUE(found.entry) << found.reason;
  EXPECT_EQ(code_of(found), code("compiled"));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(found.entry->code.data()) % 64, 0u);
  ASSERT_TRUE(cache.store(key, code("")));
  EXPECT_EQ(code_of(cache.find(key)), code(""));
  EXPECT_EQ(code_of(found), code("compiled")) << "what was found outlives its replacement";
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
    EXPECT_FALSE(found.entry);
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
    EXPECT_FALSE(cache.find(key).entry) << "cut at " << i;
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(damaged);
    EXPECT_FALSE(cache.find(key).entry) << "bit flipped in byte " << i;
  }
  write(whole + "x");
  EXPECT_FALSE(cache.find(key).entry);
  ASSERT_TRUE(cache.store(key, code("again"))) << "a damaged entry is replaced";
  EXPECT_EQ(code_of(cache.find(key)), code("again"));
}

TEST_F(CompileCacheTest, ThreadsShareTheCheckOfALargeEntry) {
  std::vector<std::byte> large(3'500'000, std::byte{7});
  ThreadPool pool(3);
  ASSERT_TRUE(cache.store(key, large));
  EXPECT_EQ(code_of(cache.find(key, &pool)), large);
  large[2'900'000] = std::byte{9};
  ASSERT_TRUE(cache.store(key, large, &pool));
  EXPECT_EQ(code_of(cache.find(key)), large);
  std::fstream file(cache.path_of(key), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(2'900'200);
  file.put('x');
  file.close();
  EXPECT_EQ(cache.find(key, &pool).reason, "the entry's checksum is wrong");
}

TEST_F(CompileCacheTest, KeepingWarnsOnceAndGivesUp) {
  std::vector<std::string> warnings;
  std::ofstream(folder) << "a file where the folder should be";
  CompileCache taken(folder.string(), [&](LogLevel level, std::string_view message) {
    EXPECT_EQ(level, LogLevel::kWarning);
    warnings.emplace_back(message);
  });
  taken.keep(key, code("compiled"));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find(folder.string()), std::string::npos) << warnings[0];
  std::filesystem::remove(folder);
  taken.keep(key, code("compiled"));
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_FALSE(taken.find(key).entry) << "nothing is stored after a failure";
}

TEST_F(CompileCacheTest, KeepingStores) {
  cache.keep(key, code("compiled"));
  EXPECT_EQ(code_of(cache.find(key)), code("compiled"));
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
        EXPECT_EQ(code_of(found), large) << found.reason;
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace tandem
