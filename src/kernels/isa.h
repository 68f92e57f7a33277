#pragma once

#include <cstdint>

namespace tandem::kernels {

/// The instruction-set rows a kernel table may have, worst first. Each op has one row for kScalar,
/// the reference; the others compute the same bits unless their row says otherwise
/// (docs/numerics.md).
enum class Isa : uint8_t {
  kScalar,      ///< portable C++
  kAvx2,        ///< AVX2, FMA and F16C
  kAvx512Vnni,  ///< AVX-512 F, BW, DQ, VL and VNNI
  kAvx512Bf16,  ///< the same with dot products of bf16; only linear over BF16 has a row of its own
  kAmx,         ///< the same with AMX tiles of int8 and bf16; only linear has rows of its own
};
inline constexpr int kIsaCount = 5;

/// "scalar", "avx2", "avx512_vnni", "avx512_bf16", "amx".
constexpr const char* to_string(Isa isa) {
  constexpr const char* kNames[kIsaCount] = {"scalar", "avx2", "avx512_vnni", "avx512_bf16", "amx"};
  return kNames[static_cast<int>(isa)];
}

}  // namespace tandem::kernels
