#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include "tensor/visit_block.h"

namespace tandem {
namespace {

TEST(DType, NumbersAndNamesLeadBackToTheType) {
  uint32_t previous = 0;
  for (const DTypeInfo& i : all_dtypes()) {
    const uint32_t number = static_cast<uint32_t>(i.type);
    EXPECT_EQ(dtype_from_gguf(number), i.type);
    EXPECT_EQ(dtype_from_name(i.name), i.type);
    EXPECT_EQ(&info(i.type), &i);
    EXPECT_GE(number, previous);
    previous = number;
  }
}

TEST(DType, NamesIgnoreCase) {
  EXPECT_EQ(dtype_from_name("q4_k"), DType::kQ4_K);
  EXPECT_EQ(dtype_from_name("bF16"), DType::kBF16);
  EXPECT_EQ(dtype_from_name("q4_k_m"), std::nullopt);
  EXPECT_EQ(dtype_from_name(""), std::nullopt);
}

TEST(DType, RefusesNumbersThatAreNoType) {
  // 4 and 5 were Q4_2 and Q4_3, dropped from GGUF; 9 is Q8_1, never stored in files.
  for (const uint32_t number :
       {4u, 5u, 9u, 16u, 36u, 40u, 43u, 1000u, 0x544e0000u, 0x544e0003u, 0xffffffffu}) {
    EXPECT_EQ(dtype_from_gguf(number), std::nullopt) << number;
  }
}

TEST(DType, BlockSizesAreThoseOfTheStructs) {
  int n_quantized = 0;
  for (const DTypeInfo& i : all_dtypes()) {
    if (i.block_size == 1) continue;
    ++n_quantized;
    visit_block(i.type, [&](auto tag) {
      using Block = typename decltype(tag)::Block;
      EXPECT_EQ(i.block_bytes, sizeof(Block)) << i.name;
      EXPECT_EQ(i.block_size, static_cast<uint32_t>(Block::kElements)) << i.name;
    });
  }
  EXPECT_EQ(n_quantized, 16);
}

TEST(RowBytes, CountsWholeBlocks) {
  EXPECT_EQ(row_bytes(DType::kQ4_0, 64), 36u);
  EXPECT_EQ(row_bytes(DType::kQ6_K, 512), 420u);
  EXPECT_EQ(row_bytes(DType::kF64, 3), 24u);
  EXPECT_EQ(row_bytes(DType::kMXFP4, 0), 0u);
}

}  // namespace
}  // namespace tandem
