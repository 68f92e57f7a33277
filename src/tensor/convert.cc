#include "tensor/convert.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "tensor/f16.h"
#include "tensor/visit_block.h"

static_assert(std::endian::native == std::endian::little, "GGUF data is used in place");

namespace tandem {
namespace {

/// Blocks pass through a local because a row may start at any address.
template <class Block>
void decode_blocks(const std::byte* row, float* out, size_t n) {
  for (size_t i = 0; i < n; i += Block::kElements, row += sizeof(Block)) {
    Block block;
    std::memcpy(&block, row, sizeof block);
    decode(block, out + i);
  }
}

template <class Block>
void encode_blocks(const float* in, std::byte* row, size_t n) {
  for (size_t i = 0; i < n; i += Block::kElements, row += sizeof(Block)) {
    Block block;
    encode(in + i, block);
    std::memcpy(row, &block, sizeof block);
  }
}

template <class Widen>
void decode_halves(const std::byte* row, float* out, size_t n, const Widen& widen) {
  for (size_t i = 0; i < n; ++i, row += sizeof(uint16_t)) {
    uint16_t half;
    std::memcpy(&half, row, sizeof half);
    out[i] = widen(half);
  }
}

template <class Narrow>
void encode_halves(const float* in, std::byte* row, size_t n, const Narrow& narrow) {
  for (size_t i = 0; i < n; ++i, row += sizeof(uint16_t)) {
    const uint16_t half = narrow(in[i]);
    std::memcpy(row, &half, sizeof half);
  }
}

bool finite_f16(uint16_t h) { return (h & 0x7c00u) != 0x7c00u; }
bool finite_bf16(uint16_t h) { return (h & 0x7f80u) != 0x7f80u; }

/// A block's f16 scales have the same names in every format that has them.
template <class Block>
bool has_finite_scales(const Block& block) {
  if constexpr (requires { is_finite(block); }) {
    return is_finite(block);
  } else if constexpr (requires { block.e; }) {
    return block.e != 255;
  } else if constexpr (requires { block.dmin; }) {
    return finite_f16(block.d) && finite_f16(block.dmin);
  } else if constexpr (requires { block.m; }) {
    return finite_f16(block.d) && finite_f16(block.m);
  } else {
    return finite_f16(block.d);
  }
}

/// The first of the `Item`s, `step` elements each, that `is_finite` refuses.
template <class Item, class IsFinite>
size_t first_refused(const std::byte* row, size_t n, size_t step, const IsFinite& is_finite) {
  for (size_t i = 0; i < n; i += step, row += sizeof(Item)) {
    Item item;
    std::memcpy(&item, row, sizeof item);
    if (!is_finite(item)) return i;
  }
  return n;
}

}  // namespace

bool is_quantized(DType type) { return info(type).block_size > 1; }

bool holds_weights(DType type) {
  return is_quantized(type) || type == DType::kF32 || type == DType::kF16 || type == DType::kBF16;
}

void decode_row(DType type, const std::byte* row, float* out, size_t n) {
  TANDEM_CHECK(holds_weights(type) && n % info(type).block_size == 0);
  if (n == 0) return;
  switch (type) {
    case DType::kF32:
      std::memcpy(out, row, n * sizeof(float));
      return;
    case DType::kF16:
      return decode_halves(row, out, n, [](uint16_t h) { return f16_to_f32(h); });
    case DType::kBF16:
      return decode_halves(row, out, n, [](uint16_t h) { return bf16_to_f32(h); });
    default:
      break;
  }
  visit_block(type, [&](auto tag) { decode_blocks<typename decltype(tag)::Block>(row, out, n); });
}

void encode_row(DType type, const float* in, std::byte* row, size_t n) {
  TANDEM_CHECK(holds_weights(type) && n % info(type).block_size == 0);
  if (n == 0) return;
  switch (type) {
    case DType::kF32:
      std::memcpy(row, in, n * sizeof(float));
      return;
    case DType::kF16:
      return encode_halves(in, row, n, [](float f) { return f32_to_f16(f); });
    case DType::kBF16:
      return encode_halves(in, row, n, [](float f) { return f32_to_bf16(f); });
    default:
      break;
  }
  visit_block(type, [&](auto tag) { encode_blocks<typename decltype(tag)::Block>(in, row, n); });
}

size_t first_non_finite(DType type, const std::byte* row, size_t n) {
  TANDEM_CHECK(holds_weights(type) && n % info(type).block_size == 0);
  switch (type) {
    case DType::kF32:
      return first_refused<float>(row, n, 1, [](float f) { return std::isfinite(f); });
    case DType::kF16:
      return first_refused<uint16_t>(row, n, 1, finite_f16);
    case DType::kBF16:
      return first_refused<uint16_t>(row, n, 1, finite_bf16);
    default:
      break;
  }
  return visit_block(type, [&](auto tag) {
    using Block = typename decltype(tag)::Block;
    return first_refused<Block>(row, n, Block::kElements, has_finite_scales<Block>);
  });
}

}  // namespace tandem
