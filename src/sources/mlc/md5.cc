// MD5 as RFC 1321 describes it.

#include "sources/mlc/md5.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tandem {
namespace {

constexpr size_t kBlockBytes = 64;

/// Rotations of the four rounds, four steps each.
constexpr std::array<std::array<int, 4>, 4> kRotations{
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

/// floor(2^32 * |sin(i + 1)|)
std::array<uint32_t, 64> sines() {
  std::array<uint32_t, 64> out{};
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<uint32_t>(
        std::floor(4294967296.0 * std::abs(std::sin(static_cast<double>(i + 1)))));
  }
  return out;
}

using State = std::array<uint32_t, 4>;

uint32_t mixed(size_t round, uint32_t b, uint32_t c, uint32_t d) {
  switch (round) {
    case 0:
      return (b & c) | (~b & d);
    case 1:
      return (d & b) | (~d & c);
    case 2:
      return b ^ c ^ d;
    default:
      return c ^ (b | ~d);
  }
}

/// The word of the block that step `i` takes.
size_t word_of_step(size_t i) {
  switch (i / 16) {
    case 0:
      return i;
    case 1:
      return (5 * i + 1) % 16;
    case 2:
      return (3 * i + 5) % 16;
    default:
      return 7 * i % 16;
  }
}

void add_block(State& state, const std::byte* block, const std::array<uint32_t, 64>& constants) {
  std::array<uint32_t, 16> words;
  std::memcpy(words.data(), block, sizeof words);
  auto [a, b, c, d] = state;
  for (size_t i = 0; i < 64; ++i) {
    const size_t round = i / 16;
    const uint32_t sum = a + mixed(round, b, c, d) + constants[i] + words[word_of_step(i)];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kRotations[round][i % 4]);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

std::string md5_hex(std::span<const std::byte> bytes) {
  static_assert(std::endian::native == std::endian::little);
  const auto constants = sines();
  State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  size_t done = 0;
  for (; bytes.size() - done >= kBlockBytes; done += kBlockBytes) {
    add_block(state, bytes.data() + done, constants);
  }
  // The rest, a one bit, zeros, and the length in bits.
  std::array<std::byte, 2 * kBlockBytes> tail{};
  const size_t rest = bytes.size() - done;
  if (rest > 0) std::memcpy(tail.data(), bytes.data() + done, rest);
  tail[rest] = std::byte{0x80};
  const size_t n_tail = rest + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  const uint64_t n_bits = uint64_t{bytes.size()} * 8;
  std::memcpy(tail.data() + n_tail - sizeof n_bits, &n_bits, sizeof n_bits);
  for (size_t at = 0; at < n_tail; at += kBlockBytes) {
    add_block(state, tail.data() + at, constants);
  }
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const uint32_t word : state) {
    for (int byte = 0; byte < 4; ++byte) {
      const uint32_t value = word >> (8 * byte) & 0xff;
      out.push_back(kHex[value >> 4]);
      out.push_back(kHex[value & 15]);
    }
  }
  return out;
}

}  // namespace tandem
