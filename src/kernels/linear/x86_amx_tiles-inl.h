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

/// Numbers of the tile registers. The shapes of a set differ in the rows of activations only: all
/// sixteen, or what is left at the end of a batch.
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
};
static_assert(sizeof(TileConfig) == 64);

/// Shapes the tile registers while it lives; then gives them up, so that a switch of threads need
/// not save them.
class Tiles {
 public:
  /// `n_rest`: rows of the second set, 1 to 16.
  [[gnu::always_inline]] explicit Tiles(int n_rest) {
    TileConfig config;
    shape(config, 0, kTokens, kRowBytes);
    shape(config, 1, kTokens, kRowBytes);
    shape(config, 2, n_rest, kRowBytes);
    shape(config, 3, n_rest, kRowBytes);
    shape(config, 4, kTokens, kCodeBytes);
    shape(config, 5, n_rest, kCodeBytes);
    shape(config, kWeights0, kQuadRows, kRowBytes);
    shape(config, kWeights1, kQuadRows, kRowBytes);
    asm volatile("ldtilecfg %0" ::"m"(config));
  }
  [[gnu::always_inline]] ~Tiles() { asm volatile("tilerelease"); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

 private:
  [[gnu::always_inline]] static void shape(TileConfig& config, int tile, int rows, int row_bytes) {
    config.rows[tile] = static_cast<uint8_t>(rows);
    config.row_bytes[tile] = static_cast<uint16_t>(row_bytes);
  }
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

}  // namespace
}  // namespace tandem::kernels::avx512_amx
