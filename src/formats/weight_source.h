#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "formats/metadata.h"
#include "tensor/dtype.h"

namespace tandem {

/// One weight of a model under GGUF's name and in GGUF's order of values, whatever format it was
/// stored in.
struct SourceTensor {
  std::string name;            ///< "blk.0.attn_q.weight"
  std::vector<uint64_t> dims;  ///< innermost first: (K, N) for N rows of K elements
  /// The smallest GGUF type that holds every value bit for bit; what `read_exact` writes. A type
  /// that is no weight format (I32) can only be copied.
  DType exact_type = DType::kF32;
  std::string stored_name;    ///< its name in the source; several are joined with " + "
  std::string stored_type;    ///< as the source calls it: "BF16", "q4f16_1", "Q4_K"
  uint64_t stored_bytes = 0;  ///< what it takes in the source

  uint64_t row_length() const { return dims.front(); }
  /// Product of all dimensions but the innermost; 1 for a vector.
  uint64_t n_rows() const;
  uint64_t n_elements() const { return row_length() * n_rows(); }
  /// "[896, 4864]", for messages.
  std::string shape_text() const;
};

/// Where a tensor's bytes lie in a mapped file.
struct MappedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> file;  ///< owns the bytes
};

/// A model as something to read weights from: a GGUF file, a Hugging Face folder, an MLC folder.
/// Immutable; any number of threads may read at the same time. Nothing is decoded before it is
/// asked for, so memory stays at what callers hold.
///
///   TANDEM_TRY(const auto source, open_weight_source(path));
///   for (size_t i = 0; i < source->tensors().size(); ++i) {
///     const SourceTensor& tensor = source->tensors()[i];
///     std::vector<float> rows(8 * tensor.row_length());
///     TANDEM_TRY(source->read_rows(i, 0, 8, rows.data()));
///   }
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;

  /// Hyperparameters, tokenizer and chat template under GGUF's keys. `metadata().source()` is the
  /// path.
  const Metadata& metadata() const { return metadata_; }
  /// In the order in which they are best written. Names are unique, shapes have 1 to 4 dimensions
  /// and none is zero.
  std::span<const SourceTensor> tensors() const { return tensors_; }
  /// What the source says it is, for listings: "GGUF v3", "Hugging Face safetensors".
  const std::string& format() const { return format_; }
  /// Nothing when there is none of that name. Linear: callers look up once.
  std::optional<size_t> find(std::string_view name) const;

  /// Decodes rows [first_row, first_row + n_rows) of tensor `index` to (n_rows, row_length) floats,
  /// values and order as GGUF defines them. Errors: kInvalidArgument for rows outside the tensor,
  /// kUnsupported for one that holds no weights, kCorruptFile where the stored values contradict
  /// their format.
  Result<void> read_rows(size_t index, uint64_t first_row, uint64_t n_rows, float* out) const;
  /// The same rows in `exact_type`: (n_rows, row_bytes(exact_type, row_length)) bytes. Errors as
  /// above, but any type can be read.
  Result<void> read_exact(size_t index, uint64_t first_row, uint64_t n_rows, std::byte* out) const;
  /// The whole tensor as `read_exact` would give it, where it lies so in a mapped file.
  virtual std::optional<MappedBytes> mapped(size_t index) const = 0;
  /// Says that a tensor will not be read again soon, so that its pages stop counting as resident.
  virtual void release(size_t index) const = 0;

 protected:
  WeightSource() = default;
  /// As the public functions, with rows already checked.
  virtual Result<void> decode(size_t index, uint64_t first_row, uint64_t n_rows,
                              float* out) const = 0;
  virtual Result<void> encode(size_t index, uint64_t first_row, uint64_t n_rows,
                              std::byte* out) const = 0;

  Metadata metadata_;
  std::vector<SourceTensor> tensors_;
  std::string format_;

 private:
  Result<void> check_rows(size_t index, uint64_t first_row, uint64_t n_rows) const;
};

}  // namespace tandem
