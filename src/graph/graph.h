#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/mapped_file.h"
#include "kernels/attention/attention.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/rope/rope.h"
#include "tensor/dtype.h"
#include "tensor/linear_input.h"

namespace tandem {

struct NestedTensor;

using ValueId = uint32_t;
using WeightId = uint32_t;
using StateId = uint32_t;
using RopeTableId = uint32_t;

/// What the model's steps are for. The same wiring is built for each phase, so that a device may
/// compile, and a planner place, each of them differently.
enum class Phase : uint8_t {
  kPrefill,  ///< many tokens of one sequence
  kDecode,   ///< one token of each sequence
  kVerify,   ///< a short block of drafted tokens
};
const char* to_string(Phase phase);

/// The kinds of model nodes, at the grain at which delegation is counted.
enum class Op : uint8_t {
  kEmbed,    ///< rows of a table by token id
  kRmsNorm,  ///< over the whole row
  kQkNorm,   ///< RMS norm over each head of queries or keys
  kLinear,
  kRope,
  kPositionScale,  ///< a factor that grows with the logarithm of the position
  kKvWrite,
  kAttention,
  kGlu,
  kAdd,
  kScale,
  kSoftcap,
  kSelectRows,  ///< keeps the rows whose logits are wanted
};
inline constexpr int kOpCount = static_cast<int>(Op::kSelectRows) + 1;
const char* to_string(Op op);

/// A weight matrix or vector where it lies in the model file.
struct Weight {
  std::string name;
  DType type;
  uint32_t rows;                     ///< outputs N; 1 for a vector
  uint32_t columns;                  ///< reduction K; length of a vector
  std::span<const std::byte> bytes;  ///< owned by `file`, or by the caller when it is null
  std::shared_ptr<const MappedFile> file;
  /// The tensor whose low plane refines this weight, and the row of it that is this weight's first;
  /// null for weights that are not nested or are to be read at INT4 only.
  std::shared_ptr<const NestedTensor> nested = {};
  uint32_t first_nested_row = 0;
  /// What calibration saw at the input of a linear with this weight; null where nothing did.
  std::shared_ptr<const LinearInput> input = {};
};

/// Rotation frequencies of one kind of layer: the angle of pair p at position t is
/// t * inverse_frequencies[p], and sine and cosine are multiplied by `magnitude`.
struct RopeTable {
  std::vector<float> inverse_frequencies;  ///< (n_rotated / 2)
  float magnitude = 1.0f;
};

/// A sequence's key/value cache of one layer.
struct KvState {
  uint32_t n_kv_heads;
  uint32_t key_size;
  uint32_t value_size;
  uint32_t window;  ///< 0: every position is seen
  kernels::KvStorage storage = kernels::KvStorage::kF16;
};
/// What a sequence carries from step to step. Recurrent and convolutional states will be further
/// alternatives; nothing above the device looks inside.
using State = std::variant<KvState>;

/// Which rows a value has: one for each token of the step, or one for each wanted output.
enum class RowSet : uint8_t { kTokens, kOutputs };

/// An activation: f32, (rows, width). Each is written by one node.
struct Value {
  std::string name;
  uint32_t width;
  RowSet rows;
};

struct EmbedAttributes {
  WeightId table;  ///< (vocabulary, width)
};
struct NormAttributes {
  std::optional<WeightId> weight;  ///< (group)
  uint32_t group;                  ///< channels normalised together: the width, or a head
  float epsilon;
};
struct LinearAttributes {
  WeightId weight;               ///< (N, K)
  std::optional<WeightId> bias;  ///< (N)
};
struct RopeAttributes {
  RopeTableId table;
  uint32_t n_heads;
  uint32_t head_size;
  kernels::RopePairs pairs;
};
/// y = x * (1 + coefficient * ln(1 + floor(position / interval)))
struct PositionScaleAttributes {
  float coefficient;
  uint32_t interval;
};
struct KvWriteAttributes {
  StateId state;
};
struct AttentionAttributes {
  StateId state;
  uint32_t n_heads;
  float scale;
  float softcap;  ///< 0: none
};
struct GluAttributes {
  kernels::Activation activation;
};
struct ScaleAttributes {
  float factor;
};
struct SoftcapAttributes {
  float cap;
};
using NodeAttributes =
    std::variant<std::monostate, EmbedAttributes, NormAttributes, LinearAttributes, RopeAttributes,
                 PositionScaleAttributes, KvWriteAttributes, AttentionAttributes, GluAttributes,
                 ScaleAttributes, SoftcapAttributes>;

/// One step of the model. Inputs are values written by earlier nodes.
struct Node {
  Op op;
  std::string name;  ///< "layers.3.attention"
  int layer;         ///< -1 outside the layers
  std::vector<ValueId> inputs;
  std::optional<ValueId> output;  ///< none for kKvWrite
  NodeAttributes attributes;
};

/// A model as a flat list of nodes in execution order, for one phase. Immutable once built; the
/// views stay valid as long as the weights' owners.
struct Graph {
  Phase phase;
  std::vector<Weight> weights;
  std::vector<RopeTable> rope_tables;
  std::vector<State> states;
  std::vector<Value> values;
  std::vector<Node> nodes;
  ValueId logits;  ///< (outputs, vocabulary)

  /// One line per node with inputs, output and shapes; for people and for tests of passes.
  std::string dump() const;
};

/// Multiply-accumulates that `node` does for `n_tokens` rows at context length `context`.
uint64_t count_macs(const Graph& graph, const Node& node, uint64_t n_tokens, uint64_t context);

}  // namespace tandem
