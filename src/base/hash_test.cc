#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace tandem {
namespace {

TEST(ContentHash, EveryFlippedBitAndEveryLengthGivesAnotherValue) {
  std::array<std::byte, 40> bytes{};
  std::set<uint64_t> seen{content_hash(bytes)};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_TRUE(seen.insert(content_hash(bytes)).second) << "bit " << bit;
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_TRUE(seen.insert(content_hash(std::span(bytes).first(n))).second) << "length " << n;
  }
}

TEST(DamageChecksum, FlippedBitsOtherLengthsAndSwappedWordsAreNoticed) {
  std::vector<std::byte> bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i * i % 251);
  const uint64_t whole = damage_checksum(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_NE(damage_checksum(bytes), whole) << "bit " << bit;
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_NE(damage_checksum(std::span(bytes).first(n)), whole) << "length " << n;
  }
  std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
  EXPECT_NE(damage_checksum(bytes), whole);
  const std::vector<std::byte> zeros(256);
  EXPECT_NE(damage_checksum(std::span(zeros).first(64)), damage_checksum(zeros));
}

TEST(ContentHash, SeedChainsPieces) {
  const std::array<std::byte, 8> a{std::byte{1}}, b{std::byte{2}};
  EXPECT_NE(content_hash(b, content_hash(a)), content_hash(a, content_hash(b)));
}

}  // namespace
}  // namespace tandem
