// The AMX row of BF16 weights: activations rounded to bf16; an instruction multiplies 16 tokens x
// 32 elements of K by 32 x 16 outputs.

#include <immintrin.h>

#include <cstring>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/repeat.h"
#include "kernels/linear/tiles-inl.h"
#include "kernels/linear/x86_amx_tiles-inl.h"
#include "kernels/linear/x86_bf16_pairs-inl.h"

namespace tandem::kernels {
namespace avx512_amx {
namespace {

/// Elements of K in one product, and the weights it reads: 16 pairs of 16 outputs.
constexpr size_t kProductDepth = 32;
constexpr size_t kProductBytes = kProductDepth * kTileRows * sizeof(uint16_t);
/// Two tiles of outputs of this depth stay in the first-level cache, this many rounded activations
/// in the second. Their rows are a line longer than they need be: sixteen rows a power of two apart
/// would meet in the same places of the first-level cache.
constexpr size_t kBlockDepth = 512, kBlockTokens = 256;
constexpr size_t kRowPairs = (kBlockDepth + kProductDepth) / 2;
constexpr size_t kPrefetchBytes = 6144;

/// Activations of up to kBlockTokens tokens over a stretch of K, zeros up to whole tiles after
/// them.
struct alignas(64) RoundedInputs {
  uint32_t pairs[kBlockTokens][kRowPairs];

  [[gnu::always_inline]] void read(const LinearArgs& a, size_t k_begin, size_t depth) {
    for (size_t m = 0; m < a.m; ++m) {
      avx512_bf16::round_to_bf16(input_at(a, m) + k_begin, depth, pairs[m]);
    }
    if (k_begin != 0) return;
    for (size_t m = a.m; m % kTokens != 0; ++m) std::memset(pairs[m], 0, sizeof pairs[m]);
  }
};

/// Where a call stands along K.
struct Stretch {
  size_t k_begin, depth;
  const RoundedInputs& x;
};

/// The sums of a tile of tokens and one of outputs.
struct SumsAt {
  float* y;
  size_t y_stride;  ///< bytes
  int n_tokens, n_outputs;

  SumsAt(const LinearArgs& a, size_t m, size_t n)
      : y(output_at(a, m, n)),
        y_stride(a.y_stride),
        n_tokens(static_cast<int>(a.m - m < kTokens ? a.m - m : kTokens)),
        n_outputs(static_cast<int>(a.n_end - n < kTileRows ? a.n_end - n : kTileRows)) {}

  bool is_whole() const { return n_tokens == kTokens && n_outputs == kTileRows; }
  __mmask16 outputs() const { return static_cast<__mmask16>((1u << n_outputs) - 1); }
  float* row(int token) const {
    return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(y) + token * y_stride);
  }
};

struct alignas(64) TileBuffer {
  float at[kTokens][kTileRows];
};

template <int tile>
[[gnu::always_inline]] inline void load_sums(const SumsAt& sums) {
  if (sums.is_whole()) return load_tile<tile>(sums.y, sums.y_stride);
  TileBuffer buffer = {};
  for (int t = 0; t < sums.n_tokens; ++t) {
    _mm512_store_ps(buffer.at[t], _mm512_maskz_loadu_ps(sums.outputs(), sums.row(t)));
  }
  load_tile<tile>(buffer.at, kRowBytes);
}

template <int tile>
[[gnu::always_inline]] inline void store_sums(const SumsAt& sums) {
  if (sums.is_whole()) return store_tile<tile>(sums.y, sums.y_stride);
  TileBuffer buffer;
  store_tile<tile>(buffer.at, kRowBytes);
  for (int t = 0; t < sums.n_tokens; ++t) {
    _mm512_mask_storeu_ps(sums.row(t), sums.outputs(), _mm512_load_ps(buffer.at[t]));
  }
}

[[gnu::always_inline]] inline void add_bias(const SumsAt& sums, const float* bias) {
  const __m512 b = _mm512_maskz_loadu_ps(sums.outputs(), bias);
  for (int t = 0; t < sums.n_tokens; ++t) {
    const __m512 y = _mm512_maskz_loadu_ps(sums.outputs(), sums.row(t));
    _mm512_mask_storeu_ps(sums.row(t), sums.outputs(), _mm512_add_ps(y, b));
  }
}

/// Registers: sums of (token tile, output tile) 0 to 3, activations 4 and 5, weights 6 and 7.
template <int i, int j>
inline constexpr int kSums = 2 * i + j;
template <int i>
inline constexpr int kActivations = 4 + i;
template <int j>
inline constexpr int kWeights = 6 + j;

/// One product for each pair of a token tile and an output tile.
template <int n_token_tiles, int n_output_tiles>
[[gnu::always_inline]] inline void multiply(const uint32_t* x, const std::byte* w,
                                            size_t tile_bytes) {
  repeat<n_token_tiles>([&]<int i>() TANDEM_INLINE_LAMBDA {
    load_tile<kActivations<i>>(x + i * kTokens * kRowPairs, kRowPairs * sizeof(uint32_t));
  });
  repeat<n_output_tiles>([&]<int j>() TANDEM_INLINE_LAMBDA {
    load_tile<kWeights<j>>(w + j * tile_bytes, kRowBytes);
    repeat<n_token_tiles>([&]<int i>() TANDEM_INLINE_LAMBDA {
      multiply_bf16_tiles<kSums<i, j>, kActivations<i>, kWeights<j>>();
    });
  });
}

/// HOT: linear_bench. Tokens from m and outputs from n on.
template <int n_token_tiles, int n_output_tiles>
[[gnu::noinline]] void bf16_tiles(const LinearArgs& a, const Stretch& s, size_t m, size_t n) {
  const size_t tile_bytes = (a.w.k + a.w.k % 2) * kTileRows * sizeof(uint16_t);
  const auto for_each_sum = [&](auto&& f) TANDEM_INLINE_LAMBDA {
    repeat<n_token_tiles * n_output_tiles>([&]<int at>() TANDEM_INLINE_LAMBDA {
      constexpr int i = at / n_output_tiles, j = at % n_output_tiles;
      f.template operator()<i, j>(SumsAt(a, m + i * kTokens, n + j * kTileRows));
    });
  };
  for_each_sum([&]<int i, int j>(const SumsAt& sums) TANDEM_INLINE_LAMBDA {
    s.k_begin == 0 ? zero_tile<kSums<i, j>>() : load_sums<kSums<i, j>>(sums);
  });

  const uint32_t* x = s.x.pairs[m];
  const std::byte* w =
      a.w.data + n / kTileRows * tile_bytes + s.k_begin * kTileRows * sizeof(uint16_t);
  size_t k = 0;
  for (; k + kProductDepth <= s.depth; k += kProductDepth) {
    multiply<n_token_tiles, n_output_tiles>(x, w, tile_bytes);
    if (m == 0) {
      for (size_t i = 0; i < kProductBytes; i += 64) {
        for (int j = 0; j < n_output_tiles; ++j) {
          __builtin_prefetch(w + j * tile_bytes + kPrefetchBytes + i);
        }
      }
    }
    x += kProductDepth / 2;
    w += kProductBytes;
  }
  if (k < s.depth) {  // what follows the last pair belongs to the next tile
    alignas(64) std::byte rest[n_output_tiles][kProductBytes] = {};
    const size_t n_bytes = (s.depth - k + 1) / 2 * kRowBytes;
    for (int j = 0; j < n_output_tiles; ++j) std::memcpy(rest[j], w + j * tile_bytes, n_bytes);
    multiply<n_token_tiles, n_output_tiles>(x, rest[0], kProductBytes);
  }

  const bool ends = s.k_begin + s.depth == a.w.k;
  for_each_sum([&]<int i, int j>(const SumsAt& sums) TANDEM_INLINE_LAMBDA {
    store_sums<kSums<i, j>>(sums);
    if (ends && a.bias != nullptr) add_bias(sums, a.bias + n + j * kTileRows);
  });
}

template <int n_output_tiles>
[[gnu::always_inline]] inline void for_all_tokens(const LinearArgs& a, const Stretch& s, size_t n) {
  for (size_t m = 0; m < a.m; m += 2 * kTokens) {
    a.m - m > kTokens ? bf16_tiles<2, n_output_tiles>(a, s, m, n)
                      : bf16_tiles<1, n_output_tiles>(a, s, m, n);
  }
}

}  // namespace
}  // namespace avx512_amx

void linear_bf16_bf16_16_amx(const LinearArgs& a) noexcept {
  using namespace avx512_amx;
  const Tiles tiles(bf16_shapes());
  RoundedInputs x;
  LinearArgs part = a;
  for (size_t m = 0; m < a.m; m += kBlockTokens) {
    part.m = a.m - m < kBlockTokens ? a.m - m : kBlockTokens;
    part.x = input_at(a, m);
    part.y = output_at(a, m, 0);
    for (size_t k = 0; k < a.w.k; k += kBlockDepth) {
      const Stretch s{k, a.w.k - k < kBlockDepth ? a.w.k - k : kBlockDepth, x};
      x.read(part, k, s.depth);
      for (size_t n = a.n_begin; n < a.n_end; n += 2 * kTileRows) {
        a.n_end - n > kTileRows ? for_all_tokens<2>(part, s, n) : for_all_tokens<1>(part, s, n);
      }
    }
  }
}

}  // namespace tandem::kernels
