#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "model/model.h"

namespace tandem {

/// What an architecture needs while it writes its graph: the model's sizes, its tensors by name
/// with their shapes checked, and the builder.
class GraphContext {
 public:
  GraphContext(const Model& model, Phase phase, const GraphOptions& options);

  const Hyperparameters& h;
  GraphBuilder build;

  const Metadata& metadata() const { return model_.metadata(); }
  /// "<architecture>.<name>"
  std::string key(const char* name) const { return h.architecture + "." + name; }
  /// Positions a session may reach.
  uint32_t context() const { return context_; }
  kernels::KvStorage kv_storage() const { return kv_storage_; }

  /// Layer tensors are named "blk.<layer>.<name>"; the layer is the one entered last.
  void enter_layer(uint32_t layer);
  void leave_layers();
  bool has(const char* name) const;

  /// A matrix of `rows` outputs by `columns` inputs. Errors: missing, or of another shape.
  Result<WeightId> matrix(const char* name, uint32_t rows, uint32_t columns);
  /// The `rows` rows that start at `first` of a matrix of `total` rows: one of several matrices
  /// that a file stores fused.
  Result<WeightId> matrix_rows(const char* name, uint32_t total, uint32_t columns, uint32_t first,
                               uint32_t rows);
  Result<WeightId> vector(const char* name, uint32_t length);
  Result<std::optional<WeightId>> optional_vector(const char* name, uint32_t length);
  /// Elements [first, first + length) of a vector of `total`, if the file has it.
  Result<std::optional<WeightId>> optional_vector_part(const char* name, uint32_t total,
                                                       uint32_t first, uint32_t length);
  /// The numbers of a small tensor such as rope divisors; empty when it is missing.
  Result<std::vector<float>> optional_numbers(const char* name, uint32_t length);

  /// The output head: its own matrix, or the embedding where the file ties them.
  Result<WeightId> output_head();

 private:
  std::string full_name(const char* name) const;
  Result<const TensorView*> tensor(const std::string& name, uint64_t columns, uint64_t rows) const;
  /// What calibration saw at the input of a matrix; null when nothing did.
  Result<std::shared_ptr<const LinearInput>> linear_input(const std::string& name,
                                                          uint32_t columns) const;
  Result<WeightId> vector_part(const char* name, uint32_t total, uint32_t first, uint32_t length);
  WeightId add(Weight weight);

  const Model& model_;
  uint32_t context_;
  WeightPlanes planes_;
  kernels::KvStorage kv_storage_;
  std::string prefix_;
  std::unordered_map<std::string, WeightId> added_;
};

}  // namespace tandem
