// Rows of MLC's group-quantized matrices.

#include "sources/mlc/group_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tensor/blocks/q4_0.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

constexpr std::array<GroupQuantization, 8> kFormats{{
    {"q4f16_1", 4, 32, false},
    {"q4f32_1", 4, 32, false},
    {"q4f16_0", 4, 32, true},
    {"q4f16_2", 4, 32, false},
    {"q4bf16_1", 4, 32, false},
    {"q4bf16_0", 4, 32, true},
    {"q3f16_1", 3, 40, false},
    {"q3f16_0", 3, 40, true},
}};

class GroupRows final : public RowReader {
 public:
  explicit GroupRows(GroupRowsOptions options)
      : options_(std::move(options)),
        n_stored_(options_.words.shape[options_.transposed ? 1 : 0]),
        n_words_(options_.words.shape[options_.transposed ? 0 : 1]),
        n_groups_(options_.scales.shape[options_.transposed ? 0 : 1]) {
    TANDEM_CHECK(options_.words.type == StoredType::kU32 && weight_type(options_.scales.type));
    TANDEM_CHECK(n_words_ == n_groups_ * options_.format.words_per_group());
    TANDEM_CHECK(options_.row_length <= n_groups_ * options_.format.group_size);
  }

  Result<void> decode(uint64_t first_row, uint64_t n_rows, float* out) const override {
    std::vector<uint8_t> codes(options_.row_length);
    std::vector<float> scales(n_groups_);
    for (uint64_t i = 0; i < n_rows; ++i, out += options_.row_length) {
      const uint64_t row = options_.order.stored(first_row + i);
      TANDEM_TRY(read_codes(row, codes));
      read_scales(row, scales);
      for (uint64_t k = 0; k < codes.size(); ++k) {
        out[k] = static_cast<float>(codes[k] - options_.format.max()) *
                 scales[k / options_.format.group_size];
      }
    }
    return {};
  }

  Result<void> encode(uint64_t first_row, uint64_t n_rows, std::byte* out) const override {
    if (exact_type() != DType::kQ4_0) return RowReader::encode(first_row, n_rows, out);
    std::vector<uint8_t> codes(options_.row_length);
    for (uint64_t i = 0; i < n_rows; ++i) {
      const uint64_t row = options_.order.stored(first_row + i);
      TANDEM_TRY(read_codes(row, codes));
      for (uint64_t group = 0; group < n_groups_; ++group, out += sizeof(BlockQ4_0)) {
        const BlockQ4_0 block = block_of(row, group, codes);
        std::memcpy(out, &block, sizeof block);
      }
    }
    return {};
  }

  DType exact_type() const override {
    const GroupQuantization& format = options_.format;
    const bool as_q4_0 = format.bits == 4 && format.group_size == BlockQ4_0::kElements &&
                         options_.scales.type == StoredType::kF16 &&
                         options_.row_length % format.group_size == 0;
    return as_q4_0 ? DType::kQ4_0 : DType::kF32;
  }
  uint64_t row_length() const override { return options_.row_length; }
  void release() const override {
    options_.words.file->drop_pages(options_.words.bytes);
    options_.scales.file->drop_pages(options_.scales.bytes);
  }

 private:
  /// Position of an item of a row among n_items items a row.
  uint64_t at(uint64_t row, uint64_t item, uint64_t n_items) const {
    return options_.transposed ? item * n_stored_ + row : row * n_items + item;
  }

  Result<void> read_codes(uint64_t row, std::vector<uint8_t>& codes) const {
    const GroupQuantization& format = options_.format;
    const uint32_t mask = (1u << format.bits) - 1;
    const auto largest = static_cast<uint32_t>(2 * format.max());
    for (uint64_t k = 0, word = 0; k < codes.size(); ++word) {
      uint32_t bits;
      std::memcpy(&bits, options_.words.bytes.data() + at(row, word, n_words_) * sizeof bits,
                  sizeof bits);
      const uint64_t end = std::min<uint64_t>(k + format.per_word(), codes.size());
      for (; k < end; ++k, bits >>= format.bits) {
        const uint32_t code = bits & mask;
        if (code > largest) {
          return failure(ErrorCode::kCorruptFile, "row {}, column {}: code {}, must be at most {}",
                         row, k, code, largest);
        }
        codes[k] = static_cast<uint8_t>(code);
      }
    }
    return {};
  }

  const std::byte* scale_bytes(uint64_t row, uint64_t group) const {
    return options_.scales.bytes.data() +
           at(row, group, n_groups_) * info(options_.scales.type).n_bytes;
  }

  void read_scales(uint64_t row, std::vector<float>& scales) const {
    const DType type = *weight_type(options_.scales.type);
    for (uint64_t group = 0; group < n_groups_; ++group) {
      decode_row(type, scale_bytes(row, group), &scales[group], 1);
    }
  }

  BlockQ4_0 block_of(uint64_t row, uint64_t group, const std::vector<uint8_t>& codes) const {
    BlockQ4_0 block{};
    std::memcpy(&block.d, scale_bytes(row, group), sizeof block.d);
    const uint8_t* first = codes.data() + group * BlockQ4_0::kElements;
    for (size_t j = 0; j < BlockQ4_0::kElements / 2; ++j) {
      // Q4_0's zero is code 8, ours 7.
      const unsigned low = first[j] + 1u;
      const unsigned high = first[j + BlockQ4_0::kElements / 2] + 1u;
      block.qs[j] = static_cast<uint8_t>(low | high << 4);
    }
    return block;
  }

  GroupRowsOptions options_;
  uint64_t n_stored_;  ///< rows of the stored matrix
  uint64_t n_words_;   ///< of a row
  uint64_t n_groups_;  ///< of a row
};

}  // namespace

std::optional<GroupQuantization> group_quantization_by_name(std::string_view name) {
  for (const GroupQuantization& format : kFormats) {
    if (format.name == name) return format;
  }
  return std::nullopt;
}

std::unique_ptr<const RowReader> group_rows(GroupRowsOptions options) {
  return std::make_unique<const GroupRows>(std::move(options));
}

}  // namespace tandem
