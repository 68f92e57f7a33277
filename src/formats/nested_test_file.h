#pragma once

// For tests: nested models laid out by the writer, and their bytes to be damaged.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/gguf_test_bytes.h"
#include "formats/nested_section.h"
#include "formats/nested_writer.h"
#include "tensor/blocks/q4_0.h"

namespace tandem {

/// One tensor of a test model: (rows, 64), codes that rise with the element, every pair valid.
struct NestedTestTensor {
  std::string name;
  uint64_t rows;
  uint32_t shift;  ///< 0: no low plane
  std::vector<std::byte> high, low;

  NestedTestTensor(std::string tensor_name, uint64_t n_rows, uint32_t e)
      : name(std::move(tensor_name)), rows(n_rows), shift(e) {
    for (uint64_t g = 0; g < 2 * rows; ++g) {
      BlockQ4_0 block{0x3c00, {}};
      for (int i = 0; i < 16; ++i) {
        block.qs[i] = static_cast<uint8_t>(((i + g) % 16) | (15 - i) << 4);
        low.push_back(static_cast<std::byte>((8 + (i + g) % 8) | 0x80));
      }
      const auto* bytes = reinterpret_cast<const std::byte*>(&block);
      high.insert(high.end(), bytes, bytes + sizeof block);
    }
  }

  uint64_t checksum() const {
    uint64_t sum = 0;
    for (uint64_t row = 0; row < rows; ++row) {
      sum += nested_row_checksum(std::span(high).subspan(row * 36, 36),
                                 std::span(low).subspan(row * 32, 32), row);
    }
    return sum;
  }

  NestedTensorToWrite to_write() const {
    NestedTensorToWrite out;
    out.tensor = {name, DType::kQ4_0, {64, rows}, [this] {
                    return Result<std::span<const std::byte>>(high);
                  }};
    out.has_low = shift != 0;
    if (shift == 0) return out;
    out.produce_low = [this] { return Result<LowPlaneToWrite>({low, shift, checksum()}); };
    return out;
  }
};

/// Writes tensors "a" (e = 4), "b" (none) and "c" (e = 3).
inline Result<void> write_nested_test_file(const std::string& path,
                                           const std::string& sidecar = {}) {
  const NestedTestTensor a("a", 5, 4), b("b", 2, 0), c("c", 3, 3);
  Metadata metadata;
  metadata.set("general.architecture", std::string("test"));
  const NestedTensorToWrite tensors[] = {a.to_write(), b.to_write(), c.to_write()};
  return write_nested_gguf(path, sidecar, std::move(metadata), tensors);
}

/// Opens bytes as "m.gguf" and looks for low planes. `bytes` must outlive the result.
inline Result<ModelFile> open_nested_bytes(const std::string& bytes,
                                           MissingPlanes missing = MissingPlanes::kRefuse) {
  TANDEM_TRY(ModelFile file, parse_gguf_bytes(bytes));
  TANDEM_TRY(attach_low_planes(file, missing));
  return file;
}

}  // namespace tandem
