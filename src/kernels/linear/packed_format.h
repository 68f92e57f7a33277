#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/blocks/iq4_nl.h"
#include "tensor/blocks/iq4_xs.h"
#include "tensor/blocks/mxfp4.h"
#include "tensor/blocks/q2_0.h"
#include "tensor/blocks/q2_k.h"
#include "tensor/blocks/q3_k.h"
#include "tensor/blocks/q4_0.h"
#include "tensor/blocks/q4_1.h"
#include "tensor/blocks/q4_k.h"
#include "tensor/blocks/q5_0.h"
#include "tensor/blocks/q5_1.h"
#include "tensor/blocks/q5_k.h"
#include "tensor/blocks/q6_k.h"
#include "tensor/blocks/q8_0.h"
#include "tensor/dtype.h"
#include "tensor/f16.h"

// What each packed format holds where; drawn in docs/packed_weights.md. Sources of every ISA
// include this header, hence constants and always-inlined functions only.

namespace tandem::kernels::packed {

inline constexpr int kRows = 16;       ///< of a tile
inline constexpr int kGroup = 32;      ///< elements along K
inline constexpr int kQuads = 8;       ///< of four elements, in a group
inline constexpr int kQuadBytes = 64;  ///< 16 rows x 4 elements, one byte each

/// How the sum of one group enters the accumulator (docs/packed_weights.md, "Arithmetic").
enum class Sums {
  kGroup,          ///< one scale for 32 elements
  kGroupMinimum,   ///< one scale and one minimum for 32 elements
  kHalves,         ///< integer scales for 16 elements below a scale for 256
  kHalvesMinimum,  ///< as kHalves, with integer minima below one scale for 256
};

/// A packed block is one file block of each of the 16 rows: a header with every scale, then for
/// each group of 32 its low bits and its high bits, each plane quad by quad.
template <class BlockT, int low_bits, int high_bits, Sums sums>
struct Layout {
  using Block = BlockT;
  static constexpr int kLowBits = low_bits;    ///< 8, 4 or 2
  static constexpr int kHighBits = high_bits;  ///< 0, 1 or 2
  static constexpr Sums kSums = sums;
  static constexpr int kElements = Block::kElements;
  static constexpr int kGroups = kElements / kGroup;
  static constexpr size_t kLowBytes = kQuadBytes * low_bits;
  static constexpr size_t kGroupBytes = kQuadBytes * (low_bits + high_bits);
  static constexpr size_t kBlockBytes = kRows * sizeof(Block);
  static constexpr size_t kHeaderBytes = kBlockBytes - kGroups * kGroupBytes;
  /// Bytes from group g to the next one; kernels read super-blocks of 256 one at a time, so there
  /// the step behind the last group is of no account.
  static constexpr size_t group_step(int g) {
    if constexpr (kGroups == 8) return kGroupBytes;
    return kGroupBytes + (g % kGroups == kGroups - 1 ? kHeaderBytes : 0);
  }
};

TANDEM_ALWAYS_INLINE int byte_at(const std::byte* p, int i) { return static_cast<int>(p[i]); }
TANDEM_ALWAYS_INLINE float f16_at(const std::byte* p, int i) {
  uint16_t half;
  std::memcpy(&half, p + 2 * i, sizeof half);
  return f16_to_f32(half);
}

/// Eight 6-bit values for each row in 96 bytes. Bytes 16 j + row, j < 4: value j, above it the
/// upper two bits of value j + 4. Bytes 64 + 16 j + row, j < 2: the lower four bits of the values 4
/// + j and (high nibble) 6 + j.
inline constexpr size_t kSixBytes = 96;
TANDEM_ALWAYS_INLINE int six_bits_at(const std::byte* p, int j, int row) {
  if (j < 4) return byte_at(p, 16 * j + row) & 63;
  const int upper = byte_at(p, 16 * (j - 4) + row) >> 6;
  const int lower = byte_at(p, 64 + 16 * (j % 2) + row) >> (j < 6 ? 0 : 4) & 15;
  return upper << 4 | lower;
}

/// Per type: the layout, kOffset (value = code - kOffset) or kTable (value = kTable[code]), and the
/// scales of a header: `scale`, `minimum` of group g; or `d`, `dmin`, `sub_scale`, `sub_minimum` of
/// half group h. A minimum is added, so the file's K-quants have theirs negated.
template <DType>
struct Format;

struct HalfScale {
  TANDEM_ALWAYS_INLINE static float scale(const std::byte* header, int, int row) {
    return f16_at(header, row);
  }
};
struct HalfScaleMinimum : HalfScale {
  TANDEM_ALWAYS_INLINE static float minimum(const std::byte* header, int, int row) {
    return f16_at(header + 32, row);
  }
};
struct SixBitScalesMinima {
  TANDEM_ALWAYS_INLINE static float scale(const std::byte* header, int g, int row) {
    return f16_at(header, row) * static_cast<float>(six_bits_at(header + 64, g, row));
  }
  TANDEM_ALWAYS_INLINE static float minimum(const std::byte* header, int g, int row) {
    const int units = six_bits_at(header + 64 + kSixBytes, g, row);
    return -(f16_at(header + 32, row) * static_cast<float>(units));
  }
};

template <>
struct Format<DType::kQ4_0> : Layout<BlockQ4_0, 4, 0, Sums::kGroup>, HalfScale {
  static constexpr int kOffset = 8;
};
template <>
struct Format<DType::kQ4_1> : Layout<BlockQ4_1, 4, 0, Sums::kGroupMinimum>, HalfScaleMinimum {
  static constexpr int kOffset = 0;
};
template <>
struct Format<DType::kQ5_0> : Layout<BlockQ5_0, 4, 1, Sums::kGroup>, HalfScale {
  static constexpr int kOffset = 16;
};
template <>
struct Format<DType::kQ5_1> : Layout<BlockQ5_1, 4, 1, Sums::kGroupMinimum>, HalfScaleMinimum {
  static constexpr int kOffset = 0;
};
template <>
struct Format<DType::kQ8_0> : Layout<BlockQ8_0, 8, 0, Sums::kGroup>, HalfScale {
  static constexpr int kOffset = 128;
};
template <>
struct Format<DType::kQ2_0> : Layout<BlockQ2_0, 2, 0, Sums::kGroup>, HalfScale {
  static constexpr int kOffset = 1;
};
template <>
struct Format<DType::kIQ4_NL> : Layout<BlockIq4Nl, 4, 0, Sums::kGroup>, HalfScale {
  static constexpr const int8_t (&kTable)[16] = kIq4Values;
  static constexpr int kOffset = 128;  ///< makes the table's values unsigned
};
template <>
struct Format<DType::kMXFP4> : Layout<BlockMxfp4, 4, 0, Sums::kGroup> {
  static constexpr const int8_t (&kTable)[16] = kMxfp4Values;
  static constexpr int kOffset = 12;
  TANDEM_ALWAYS_INLINE static float scale(const std::byte* header, int, int row) {
    return mxfp4_half_scale(static_cast<uint8_t>(header[row]));
  }
};
template <>
struct Format<DType::kQ4_K> : Layout<BlockQ4_K, 4, 0, Sums::kGroupMinimum>, SixBitScalesMinima {
  static constexpr int kOffset = 0;
};
template <>
struct Format<DType::kQ5_K> : Layout<BlockQ5_K, 4, 1, Sums::kGroupMinimum>, SixBitScalesMinima {
  static constexpr int kOffset = 0;
};
template <>
struct Format<DType::kIQ4_XS> : Layout<BlockIq4Xs, 4, 0, Sums::kGroup> {
  static constexpr const int8_t (&kTable)[16] = kIq4Values;
  static constexpr int kOffset = 128;
  TANDEM_ALWAYS_INLINE static float scale(const std::byte* header, int g, int row) {
    return f16_at(header, row) * static_cast<float>(six_bits_at(header + 32, g, row) - 32);
  }
};
template <>
struct Format<DType::kQ6_K> : Layout<BlockQ6_K, 4, 2, Sums::kHalves> {
  static constexpr int kOffset = 32;
  TANDEM_ALWAYS_INLINE static float d(const std::byte* header, int row) {
    return f16_at(header, row);
  }
  TANDEM_ALWAYS_INLINE static int sub_scale(const std::byte* header, int h, int row) {
    return static_cast<int8_t>(header[32 + 16 * h + row]);
  }
};
template <>
struct Format<DType::kQ3_K> : Layout<BlockQ3_K, 2, 1, Sums::kHalves> {
  static constexpr int kOffset = 4;
  TANDEM_ALWAYS_INLINE static float d(const std::byte* header, int row) {
    return f16_at(header, row);
  }
  TANDEM_ALWAYS_INLINE static int sub_scale(const std::byte* header, int h, int row) {
    return six_bits_at(header + 32 + kSixBytes * (h / 8), h % 8, row) - 32;
  }
};
template <>
struct Format<DType::kQ2_K> : Layout<BlockQ2_K, 2, 0, Sums::kHalvesMinimum> {
  static constexpr int kOffset = 0;
  TANDEM_ALWAYS_INLINE static float d(const std::byte* header, int row) {
    return f16_at(header, row);
  }
  TANDEM_ALWAYS_INLINE static float dmin(const std::byte* header, int row) {
    return -f16_at(header + 32, row);
  }
  TANDEM_ALWAYS_INLINE static int sub_scale(const std::byte* header, int h, int row) {
    return byte_at(header, 64 + 16 * h + row) & 15;
  }
  TANDEM_ALWAYS_INLINE static int sub_minimum(const std::byte* header, int h, int row) {
    return byte_at(header, 64 + 16 * h + row) >> 4;
  }
};

template <class F>
concept HasTable = requires {
  F::kTable;
};

template <class F>
inline constexpr bool kHasMinimum =
    F::kSums == Sums::kGroupMinimum || F::kSums == Sums::kHalvesMinimum;
template <class F>
inline constexpr bool kHasHalves = F::kSums == Sums::kHalves || F::kSums == Sums::kHalvesMinimum;

/// The integer a code stands for, before any scale.
template <class F>
TANDEM_ALWAYS_INLINE int value_of(int code) {
  if constexpr (HasTable<F>) {
    return F::kTable[code];
  } else {
    return code - F::kOffset;
  }
}

/// Where the bits of element `e` of a group lie in a plane of `bits` bits: byte and shift. Quads
/// share bytes at the distance that lets a vector of 64 bytes be shifted and masked into one.
struct BitPlace {
  size_t byte;
  int shift;
};
TANDEM_ALWAYS_INLINE BitPlace place_of(int bits, int e, int row) {
  const int vectors = bits;  // 64 bytes x bits x 8 = 8 quads of 64 codes
  const int quad = e / 4;
  return {static_cast<size_t>(quad % vectors * kQuadBytes + row * 4 + e % 4),
          quad / vectors * bits};
}

/// The code of element `e` and `row` in the group that starts at `group`.
template <class F>
TANDEM_ALWAYS_INLINE int code_at(const std::byte* group, int e, int row) {
  const BitPlace low = place_of(F::kLowBits, e, row);
  int code = byte_at(group, static_cast<int>(low.byte)) >> low.shift & ((1 << F::kLowBits) - 1);
  if constexpr (F::kHighBits > 0) {
    const BitPlace high = place_of(F::kHighBits, e, row);
    const std::byte* plane = group + F::kLowBytes;
    code |= (byte_at(plane, static_cast<int>(high.byte)) >> high.shift & ((1 << F::kHighBits) - 1))
            << F::kLowBits;
  }
  return code;
}

/// Calls `f.template operator()<type>()` for a type that has a Format (Q4_24 and MXFP8 have
/// layouts of their own); the one place that maps a DType to it.
template <class F>
TANDEM_ALWAYS_INLINE void visit_format(DType type, F&& f) {
  switch (type) {
#define TANDEM_CASE(T) \
  case DType::T:       \
    return f.template operator()<DType::T>();
    TANDEM_CASE(kQ4_0)
    TANDEM_CASE(kQ4_1)
    TANDEM_CASE(kQ5_0)
    TANDEM_CASE(kQ5_1)
    TANDEM_CASE(kQ8_0)
    TANDEM_CASE(kQ2_K)
    TANDEM_CASE(kQ3_K)
    TANDEM_CASE(kQ4_K)
    TANDEM_CASE(kQ5_K)
    TANDEM_CASE(kQ6_K)
    TANDEM_CASE(kIQ4_NL)
    TANDEM_CASE(kIQ4_XS)
    TANDEM_CASE(kMXFP4)
    TANDEM_CASE(kQ2_0)
#undef TANDEM_CASE
    default:
      return;
  }
}

}  // namespace tandem::kernels::packed
