#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/weight_source.h"
#include "sources/stored_tensor.h"

namespace tandem {

/// Gives the rows of one tensor of a source. Immutable; rows are within the tensor, which the
/// source has checked. Rows have `row_length()` elements.
class RowReader {
 public:
  virtual ~RowReader() = default;
  /// Rows to f32, values and order as GGUF defines them.
  virtual Result<void> decode(uint64_t first_row, uint64_t n_rows, float* out) const = 0;
  /// The same rows in `exact_type()`.
  virtual Result<void> encode(uint64_t first_row, uint64_t n_rows, std::byte* out) const;
  virtual DType exact_type() const = 0;
  virtual uint64_t row_length() const = 0;
  /// The whole tensor where it lies, when encoding would only copy it.
  virtual std::optional<MappedBytes> mapped() const { return std::nullopt; }
  virtual void release() const = 0;

 protected:
  RowReader() = default;
  RowReader(const RowReader&) = default;
  RowReader& operator=(const RowReader&) = default;
};

/// Which stored row holds a tensor's row: a run of rows, whose heads may have their halves
/// interleaved. GGUF turns adjacent pairs of channels of Llama models, checkpoints turn channel j
/// together with j + half.
struct RowOrder {
  uint64_t first = 0;      ///< stored row of row 0
  uint64_t head_rows = 0;  ///< rows of a head whose halves are interleaved; 0: in order

  uint64_t stored(uint64_t row) const {
    if (head_rows == 0) return first + row;
    const uint64_t in_head = row % head_rows;
    return first + row - in_head + in_head % 2 * (head_rows / 2) + in_head / 2;
  }
  bool in_order() const { return head_rows == 0; }
};

/// Plain numbers.
struct PlainRowsOptions {
  StoredTensor tensor;  ///< of type F64, F32, F16, BF16, F8 or I8
  uint64_t row_length;
  uint64_t n_rows;
  RowOrder order;
  float addend = 0;  ///< added to each value; Gemma's norms are stored less 1
};
std::unique_ptr<const RowReader> plain_rows(PlainRowsOptions options);
/// Whether `plain_rows` takes the type.
bool has_plain_rows(StoredType type);

/// Numbers that were computed from a configuration, one row of them.
std::unique_ptr<const RowReader> computed_row(std::vector<float> values);

/// A tensor with its reader, on its way into a source.
struct TensorWithRows {
  SourceTensor tensor;
  std::unique_ptr<const RowReader> rows;
};

/// A source made of parts. `tensor.exact_type` is taken from the reader.
std::unique_ptr<const WeightSource> make_composite_source(Metadata metadata, std::string format,
                                                          std::vector<TensorWithRows> tensors);

}  // namespace tandem
