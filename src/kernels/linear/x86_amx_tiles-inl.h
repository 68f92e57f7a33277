#pragma once

#include <cstddef>
#include <cstdint>

// The tile registers of Intel AMX as the linear kernels use them. g++'s own intrinsics tell the
// compiler nothing about the memory they touch, so these say it.

namespace tandem::kernels::avx512_amx {
namespace {

/// Rows of activations in a tile, and bytes of the two operands of one product: 16 rows x 32 codes
/// times 32 codes (8 quads) x 16 outputs.
inline constexpr int kTokens = 16;
inline constexpr int kCodeBytes = 32;
inline constexpr int kQuadRows = 8;
inline constexpr int kRowBytes = 64;

/// Numbers of the tile registers of int8 products. The shapes of a set differ in the rows of
/// activations only: all sixteen, or what is left at the end of a batch.
template <bool is_rest>
struct TileSet {
  static constexpr int kSums0 = is_rest ? 2 : 0;
  static constexpr int kSums1 = is_rest ? 3 : 1;
  static constexpr int kActivations = is_rest ? 5 : 4;
};
inline constexpr int kWeights0 = 6;
inline constexpr int kWeights1 = 7;

/// What LDTILECFG reads.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  [[gnu::always_inline]] void shape(int tile, int n_rows, int n_row_bytes) {
    rows[tile] = static_cast<uint8_t>(n_rows);
    row_bytes[tile] = static_cast<uint16_t>(n_row_bytes);
  }
};
static_assert(sizeof(TileConfig) == 64);

/// For int8 products; `n_rest`: rows of the second set, 1 to 16.
[[gnu::always_inline]] inline TileConfig int8_shapes(int n_rest) {
  TileConfig config;
  config.shape(0, kTokens, kRowBytes);
  config.shape(1, kTokens, kRowBytes);
  config.shape(2, n_rest, kRowBytes);
  config.shape(3, n_rest, kRowBytes);
  config.shape(4, kTokens, kCodeBytes);
  config.shape(5, n_rest, kCodeBytes);
  config.shape(kWeights0, kQuadRows, kRowBytes);
  config.shape(kWeights1, kQuadRows, kRowBytes);
  return config;
}
/// For bf16 products: all alike.
[[gnu::always_inline]] inline TileConfig bf16_shapes() {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) config.shape(tile, 16, kRowBytes);
  return config;
}

/// Shapes the tile registers while it lives; then gives them up, so that a switch of threads need
/// not save them.
class Tiles {
 public:
  [[gnu::always_inline]] explicit Tiles(const TileConfig& config) {
    asm volatile("ldtilecfg %0" ::"m"(config));
  }
  [[gnu::always_inline]] ~Tiles() { asm volatile("tilerelease"); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

template <int tile>
[[gnu::always_inline]] inline void load_tile(const void* p, size_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
[[gnu::always_inline]] inline void store_tile(void* p, size_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
[[gnu::always_inline]] inline void zero_tile() {
  asm volatile("tilezero %%tmm%c0" ::"i"(tile));
}
/// sums[row][output] += the 32 signed activation codes of a row times the signed codes of an
/// output.
template <int sums, int activations, int weights>
[[gnu::always_inline]] inline void multiply_tiles() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(activations), "i"(weights));
}
/// sums[row][output] += the 32 bf16 activations of a row times those of an output, given as 16
/// pairs of 16 outputs: even elements and odd ones in order, each fused, then both sums together.
template <int sums, int activations, int weights>
[[gnu::always_inline]] inline void multiply_bf16_tiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(activations),
               "i"(weights));
}

}  // namespace
}  // namespace tandem::kernels::avx512_amx
