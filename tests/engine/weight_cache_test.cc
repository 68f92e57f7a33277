// Packed weights kept between runs: the same logits whether they were packed or mapped, for every
// way in which what lies on disk may not be what the model needs.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "formats/gguf_source.h"
#include "quantize/convert.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

namespace fs = std::filesystem;

class WeightCacheTest : public ::testing::Test {
 protected:
  WeightCacheTest()
      : folder_(fs::path(::testing::TempDir()) / fmt::format("weights-{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~WeightCacheTest() override { fs::remove_all(folder_); }

  /// A nested file, whose seed decides the weights.
  std::string write_model(uint64_t seed) {
    const std::string path = folder_ / "model.gguf";
    const auto original = make_tiny_model(tiny_shape("qwen3"), DType::kF32, seed);
    const auto source = make_gguf_source(original->file());
    EXPECT_TRUE(convert(*source, path, source->metadata(), {.n_threads = 1}));
    return path;
  }
  std::vector<std::vector<float>> logits(const std::string& path, const std::string& cache,
                                         WeightPlanes planes = WeightPlanes::kBoth) {
    const auto engine =
        make_engine(*Model::load(path), {.context = 64,
                                         .n_threads = 2,
                                         .planes = planes,
                                         .compile_cache = CompileCache::open(cache)});
    return all_logits(engine, some_tokens(12), 5);
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(cache_)) out.push_back(entry.path());
    return out;
  }

  fs::path folder_;
  const std::string cache_ = folder_ / "cache";
};

TEST_F(WeightCacheTest, MappedWeightsGiveTheSameBits) {
  const std::string model = write_model(1);
  for (const WeightPlanes planes : {WeightPlanes::kBoth, WeightPlanes::kHigh}) {
    const auto plain = logits(model, "", planes);
    EXPECT_EQ(logits(model, cache_, planes), plain) << "packed and stored";
    const size_t n_entries = entries().size();
    EXPECT_GT(n_entries, 0u);
    EXPECT_EQ(logits(model, cache_, planes), plain) << "mapped";
    EXPECT_EQ(entries().size(), n_entries);
  }
}

TEST_F(WeightCacheTest, ALaterRunNeitherPacksNorStores) {
  const std::string model = write_model(1);
  const auto plain = logits(model, cache_);
  const auto long_ago = fs::last_write_time(model) - std::chrono::hours(1);
  for (const fs::path& entry : entries()) fs::last_write_time(entry, long_ago);
  EXPECT_EQ(logits(model, cache_), plain);
  for (const fs::path& entry : entries()) EXPECT_EQ(fs::last_write_time(entry), long_ago);
}

TEST_F(WeightCacheTest, DamagedEntriesAreMadeAgain) {
  const std::string model = write_model(1);
  const auto plain = logits(model, cache_);
  for (const fs::path& entry : entries()) {
    std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(entry)) / 2);
    file.put('\x55').put('\xaa');
  }
  EXPECT_EQ(logits(model, cache_), plain);
  for (const fs::path& entry : entries()) fs::resize_file(entry, fs::file_size(entry) - 1);
  EXPECT_EQ(logits(model, cache_), plain);
}

TEST_F(WeightCacheTest, AnotherModelUnderTheSameNameIsNotTakenForTheFirst) {
  const std::string model = write_model(1);
  const auto first = logits(model, cache_);
  const auto time = fs::last_write_time(model);
  write_model(2);
  fs::last_write_time(model, time);  // even then its weights differ
  const auto second = logits(model, cache_);
  EXPECT_NE(second, first);
  EXPECT_EQ(second, logits(model, ""));
}

TEST_F(WeightCacheTest, AMovedModelIsTheSameModel) {
  const std::string model = write_model(1), moved = folder_ / "모델.gguf";
  const auto plain = logits(model, cache_);
  const size_t n_entries = entries().size();
  fs::rename(model, moved);
  EXPECT_EQ(logits(moved, cache_), plain);
  EXPECT_EQ(entries().size(), n_entries);
}

TEST_F(WeightCacheTest, AFolderThatCannotBeWrittenCostsNothing) {
  const std::string model = write_model(1);
  std::ofstream(cache_) << "a file where the folder should be";
  EXPECT_EQ(logits(model, cache_), logits(model, ""));
}

}  // namespace
}  // namespace tandem::testing
