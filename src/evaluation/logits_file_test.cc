#include "evaluation/logits_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>

namespace tandem {
namespace {

constexpr uint32_t kVocabulary = 700;
constexpr size_t kRows = 40;

std::vector<std::vector<float>> some_logits(uint32_t seed, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<std::vector<float>> out(kRows, std::vector<float>(kVocabulary));
  for (auto& row : out) {
    for (float& v : row) v = normal(random);
  }
  return out;
}

TokenId target_of(size_t row) { return static_cast<TokenId>(row * 13 % kVocabulary); }

class LogitsFile : public ::testing::Test {
 protected:
  LogitsFile()
      : path_(std::filesystem::path(::testing::TempDir()) /
              fmt::format("tandem-logits-{}", getpid())) {}
  ~LogitsFile() override { std::filesystem::remove(path_); }

  void write(const std::vector<std::vector<float>>& logits) {
    auto writer = LogitsWriter::create(path_, binding_);
    ASSERT_TRUE(writer) << writer.error().message;
    for (size_t i = 0; i < logits.size(); ++i) {
      ASSERT_TRUE(writer->add(distribution_of(logits[i], target_of(i))));
    }
    ASSERT_TRUE(writer->commit());
  }

  std::vector<std::byte> bytes() const {
    const auto file = *MappedFile::open(path_);
    return {file->bytes().begin(), file->bytes().end()};
  }

  std::string path_;
  LogitsBinding binding_{.model = 5, .windows = 6, .vocabulary = kVocabulary, .n_rows = kRows};
};

/// Reads all rows; the message of the first error, or empty.
std::string read_all(std::span<const std::byte> bytes) {
  auto reader = LogitsReader::parse(MappedFile::view("x.logits", bytes));
  if (!reader) return reader.error().message;
  LogitsReader::Row row;
  for (size_t i = 0; i < kRows; ++i) {
    if (auto outcome = reader->next(row); !outcome) return outcome.error().message;
  }
  return "";
}

TEST_F(LogitsFile, KeepsDistributionsCloseToExact) {
  for (const float spread : {0.1f, 3.0f, 12.0f}) {
    const auto logits = some_logits(1, spread);
    const auto others = some_logits(2, spread);
    write(logits);
    auto reader = LogitsReader::open(path_);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->binding().model, 5u);
    EXPECT_EQ(reader->binding().windows, 6u);
    LogitsReader::Row row;
    for (size_t i = 0; i < kRows; ++i) {
      ASSERT_TRUE(reader->next(row));
      const Distribution exact = distribution_of(logits[i], target_of(i));
      EXPECT_EQ(row.distribution.top, exact.top);
      EXPECT_NEAR(row.distribution.target_log_probability, exact.target_log_probability, 1e-5);
      // A code is a step of 16.1 / 65535; half of it squared bounds the divergence from rounding.
      EXPECT_LT(kl_divergence(row.distribution, logits[i], exact.offset), 1.6e-8);
      const double log_sum = log_sum_exp(others[i]);
      const double far = kl_divergence(exact, others[i], log_sum);
      EXPECT_NEAR(kl_divergence(row.distribution, others[i], log_sum), far, 1e-4 * (1 + far));
    }
    EXPECT_FALSE(reader->next(row));
  }
}

TEST_F(LogitsFile, SmallDivergencesSurvive) {
  const auto logits = some_logits(3, 3.0f);
  auto others = logits;
  std::mt19937 random(4);
  std::normal_distribution<float> noise(0, 0.01f);
  for (auto& row : others) {
    for (float& v : row) v += noise(random);
  }
  write(logits);
  auto reader = LogitsReader::open(path_);
  LogitsReader::Row row;
  double exact = 0, stored = 0;
  for (size_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(reader->next(row));
    const double log_sum = log_sum_exp(others[i]);
    exact += kl_divergence(distribution_of(logits[i], 0), others[i], log_sum);
    stored += kl_divergence(row.distribution, others[i], log_sum);
  }
  EXPECT_NEAR(stored / exact, 1, 0.005);
}

TEST_F(LogitsFile, IsCompact) {
  write(some_logits(1, 12.0f));
  EXPECT_LT(bytes().size(), kRows * kVocabulary * 2);
}

TEST_F(LogitsFile, UnfinishedFileNeverAppears) {
  {
    auto writer = LogitsWriter::create(path_, binding_);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add(distribution_of(some_logits(1, 1)[0], 0)));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(LogitsFile, EveryDamagedByteIsNoticed) {
  write(some_logits(1, 12.0f));
  auto damaged = bytes();
  EXPECT_EQ(read_all(damaged), "");
  for (size_t i = 0; i < damaged.size(); i += i < 200 ? 1 : 97) {
    damaged[i] ^= std::byte{4};
    EXPECT_NE(read_all(damaged), "") << "byte " << i;
    damaged[i] ^= std::byte{4};
  }
}

TEST_F(LogitsFile, CutShortNamesTheRow) {
  write(some_logits(1, 3.0f));
  const auto whole = bytes();
  for (const size_t n : {size_t{0}, size_t{20}, size_t{50}, size_t{70}, whole.size() - 1}) {
    EXPECT_NE(read_all(std::span(whole).first(n)), "") << n;
  }
  EXPECT_NE(read_all(std::span(whole).first(whole.size() - 1)).find("row 1 of 40"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem
