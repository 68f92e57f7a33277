#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "formats/linear_inputs.h"
#include "formats/nested_section.h"
#include "graph/graph.h"
#include "model/hyperparameters.h"
#include "tensor/weight_planes.h"
#include "text/tokenizer/tokenizer.h"

namespace tandem {

struct Architecture;

struct ModelOptions {
  TokenizerOptions tokenizer = {};
  /// What to do with a file whose low planes are gone or damaged.
  MissingPlanes missing_planes = MissingPlanes::kRefuse;
};

/// An opened model: sizes, tokenizer, template and weight views. Immutable and shared; the mapped
/// file lives as long as the model or any graph built from it.
class Model : public std::enable_shared_from_this<Model> {
 public:
  /// Opens a GGUF file, a Hugging Face or an MLC folder. Errors name the file and what is wrong
  /// with it; an unknown architecture lists the known ones.
  static Result<std::shared_ptr<const Model>> load(const std::string& path,
                                                   const ModelOptions& options = {});
  static Result<std::shared_ptr<const Model>> from_file(ModelFile file,
                                                        const ModelOptions& options = {});

  const Metadata& metadata() const { return file_.metadata; }
  const ModelFile& file() const { return file_; }
  /// What calibration stored about activations; empty where it did not run.
  const LinearInputs& linear_inputs() const { return linear_inputs_; }
  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  const Architecture& architecture() const { return *architecture_; }
  /// Null for a file without a vocabulary; ids are then the only way in and out.
  const Tokenizer* tokenizer() const { return tokenizer_.get(); }
  /// The Jinja source of the chat template; empty when the file has none.
  const std::string& chat_template() const { return chat_template_; }
  /// Whether any weight has a low plane, so that INT4 and INT8 are two readings.
  bool is_nested() const;
  /// Identity of the weights and metadata, for caches and saved sessions.
  uint64_t fingerprint() const { return fingerprint_; }

  /// Null when the file has no tensor of that name.
  const TensorView* find_tensor(const std::string& name) const;

 private:
  Model() = default;

  ModelFile file_;
  LinearInputs linear_inputs_;
  Hyperparameters hyperparameters_;
  const Architecture* architecture_ = nullptr;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::string chat_template_;
  uint64_t fingerprint_ = 0;
  std::unordered_map<std::string, const TensorView*> tensors_by_name_;
};

struct GraphOptions {
  /// Positions a session may reach; some models choose their rope frequencies by it. 0: what the
  /// model was trained for.
  uint32_t context = 0;
  WeightPlanes planes = WeightPlanes::kBoth;  ///< kHigh: low planes are left out of the graph
  /// How keys and values are kept (docs/attention.md).
  kernels::KvStorage kv_storage = kernels::KvStorage::kF16;
};

/// The model's nodes for one phase. Errors name a missing or misshapen tensor.
Result<Graph> build_graph(const Model& model, Phase phase, const GraphOptions& options = {});

}  // namespace tandem
