#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sources/huggingface/tensor_plan.h"
#include "sources/row_reader.h"

namespace tandem {

/// The tensors of a checkpoint by the names that plans use, and which of them have been used.
class StoredTensors {
 public:
  /// `source` is the folder, for messages. Errors: kCorruptFile for two tensors of one plain name.
  static Result<StoredTensors> create(std::string source, std::vector<StoredTensor> tensors);

  const std::string& source() const { return source_; }
  /// Null when there is none; otherwise marked as used.
  const StoredTensor* take(const std::string& name);
  /// Errors: kUnsupported naming a tensor that nobody took and that is no known accessory: a sign
  /// that the model is not what its configuration says.
  Result<void> check_all_used(const DecoderShape& shape) const;

 private:
  struct Entry {
    StoredTensor tensor;
    bool used = false;
  };
  std::string source_;
  std::unordered_map<std::string, Entry> by_name_;
};

/// How a planned tensor's rows are read, and what is stored for them.
struct StoredRows {
  std::unique_ptr<const RowReader> rows;
  std::string stored_name;
  std::string stored_type;
  uint64_t stored_bytes = 0;
};

/// Asked first for each planned tensor: makes the rows of one that is stored in a way of the
/// format's own; nothing when it is stored plainly or not at all.
using SpecialRows =
    std::function<Result<std::optional<StoredRows>>(const PlannedTensor&, StoredTensors&)>;

/// Every tensor of the model with its reader, computed ones first. Errors: kCorruptFile for one
/// that is missing or has another shape than the configuration implies, kUnsupported for one of a
/// type that holds no weights or that the architecture has no place for.
Result<std::vector<TensorWithRows>> resolve_tensors(const DecoderShape& shape,
                                                    CheckpointNames names, StoredTensors& stored,
                                                    const SpecialRows& special);

/// What to call a model that has no name but its folder's.
std::string folder_name(const std::string& folder);

/// Checks `tensor` against [rows, columns]. Errors: kCorruptFile naming both shapes.
Result<void> check_stored_shape(const std::string& source, const StoredTensor& tensor,
                                const std::vector<uint64_t>& expected);

}  // namespace tandem
