// The packed sub-block scales: every value at every place survives packing.

#include <gtest/gtest.h>

#include <algorithm>

#include "tensor/blocks/iq4_xs.h"
#include "tensor/blocks/k_scales.h"
#include "tensor/blocks/q3_k.h"

namespace tandem {
namespace {

TEST(KScales, PackInvertsUnpack) {
  for (int place = 0; place < 8; ++place) {
    for (int value = 0; value < 64; ++value) {
      uint8_t scales[8], minima[8], packed[12], scales_back[8], minima_back[8];
      std::fill_n(scales, 8, uint8_t{21});
      std::fill_n(minima, 8, uint8_t{42});
      scales[place] = static_cast<uint8_t>(value);
      minima[7 - place] = static_cast<uint8_t>(63 - value);
      pack_k_scales(scales, minima, packed);
      unpack_k_scales(packed, scales_back, minima_back);
      EXPECT_TRUE(std::equal(scales, scales + 8, scales_back)) << place << " " << value;
      EXPECT_TRUE(std::equal(minima, minima + 8, minima_back)) << place << " " << value;
    }
  }
}

TEST(Q3KScales, PackInvertsUnpack) {
  for (int place = 0; place < 16; ++place) {
    for (int value = -32; value < 32; ++value) {
      int8_t scales[16], back[16];
      uint8_t packed[12];
      std::fill_n(scales, 16, int8_t{-11});
      scales[place] = static_cast<int8_t>(value);
      pack_q3_k_scales(scales, packed);
      unpack_q3_k_scales(packed, back);
      EXPECT_TRUE(std::equal(scales, scales + 16, back)) << place << " " << value;
    }
  }
}

TEST(Iq4XsScales, PackInvertsUnpack) {
  for (int place = 0; place < 8; ++place) {
    for (int value = -32; value < 32; ++value) {
      int8_t scales[8], back[8];
      BlockIq4Xs block{};
      std::fill_n(scales, 8, int8_t{-11});
      scales[place] = static_cast<int8_t>(value);
      pack_iq4_xs_scales(scales, block);
      unpack_iq4_xs_scales(block, back);
      EXPECT_TRUE(std::equal(scales, scales + 8, back)) << place << " " << value;
    }
  }
}

}  // namespace
}  // namespace tandem
