#include "base/hash.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

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

TEST(ContentHash, SeedChainsPieces) {
  const std::array<std::byte, 8> a{std::byte{1}}, b{std::byte{2}};
  EXPECT_NE(content_hash(b, content_hash(a)), content_hash(a, content_hash(b)));
}

}  // namespace
}  // namespace tandem
