// Lowers graph nodes to steps and runs them in order.

#include "device/cpu/cpu_executable.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/clock.h"
#include "device/cpu/attention_steps.h"
#include "device/cpu/linear_steps.h"
#include "device/cpu/other_linear_steps.h"
#include "device/cpu/row_steps.h"
#include "kernels/linear/nested.h"

namespace tandem {

/// Appends the steps of one node after another to an executable.
class Lowering {
 public:
  Lowering(const Graph& graph, const StepShape& shape, const LoweringContext& context,
           CpuExecutable& out)
      : graph_(graph),
        shape_(shape),
        kernels_(context.kernels),
        weights_(context.weights),
        pool_(context.pool),
        arithmetic_(context.arithmetic),
        out_(out) {
    for (const Node& node : graph.nodes) {
      if (const auto* a = std::get_if<LinearAttributes>(&node.attributes)) {
        used_by_linear_.insert(a->weight);
      }
    }
  }

  void prepare() {
    out_.needs_.n_rows = std::max(shape_.max_tokens, shape_.max_outputs);
    for (const RopeTable& table : graph_.rope_tables) {
      out_.needs_.rope_pairs.push_back(table.inverse_frequencies.size());
    }
    out_.steps_.push_back({{}, std::make_unique<RotationsStep>()});
  }

  Result<void> lower(const Node& node) {
    switch (node.op) {
      case Op::kEmbed:
        return lower_embed(node, std::get<EmbedAttributes>(node.attributes));
      case Op::kRmsNorm:
      case Op::kQkNorm:
        return lower_norm(node, std::get<NormAttributes>(node.attributes));
      case Op::kLinear:
        return lower_linear(node, std::get<LinearAttributes>(node.attributes));
      case Op::kRope:
        return add<RopeStep>(node, kernels_, std::get<RopeAttributes>(node.attributes),
                             node.inputs[0], *node.output);
      case Op::kPositionScale:
        return add<PositionScaleStep>(node, kernels_,
                                      std::get<PositionScaleAttributes>(node.attributes),
                                      node.inputs[0], *node.output);
      case Op::kKvWrite:
        return add<KvWriteStep>(node, kernels_, std::get<KvWriteAttributes>(node.attributes).state,
                                node.inputs[0], node.inputs[1]);
      case Op::kAttention:
        return lower_attention(node, std::get<AttentionAttributes>(node.attributes));
      case Op::kAdd:
      case Op::kGlu:
      case Op::kScale:
      case Op::kSoftcap:
        return add<ElementwiseStep>(node, kernels_, node);
      case Op::kSelectRows:
        return add<SelectRowsStep>(node, node.inputs[0], *node.output);
    }
    TANDEM_CHECK(false);
  }

 private:
  template <class S, class... Args>
  Result<void> add(const Node& node, Args&&... args) {
    last_linear_ = nullptr;
    out_.steps_.push_back({{&node}, std::make_unique<S>(std::forward<Args>(args)...)});
    if (node.output && quantized_ == node.output) quantized_.reset();
    return {};
  }

  Result<void> lower_embed(const Node& node, const EmbedAttributes& a) {
    const Weight& table = graph_.weights[a.table];
    std::shared_ptr<const PackedWeight> packed;
    if (used_by_linear_.contains(a.table)) {
      TANDEM_TRY(packed, weights_.packed(table, pool_));
    }
    return add<EmbedStep>(node, table, std::move(packed), *node.output);
  }

  Result<void> lower_norm(const Node& node, const NormAttributes& a) {
    std::vector<float> weight;
    if (a.weight) weight = decode_vector(graph_.weights[*a.weight]);
    return add<NormStep>(node, kernels_, a, std::move(weight), node.inputs[0], *node.output);
  }

  Result<void> lower_linear(const Node& node, const LinearAttributes& a) {
    const Weight& weight = graph_.weights[a.weight];
    const LinearArithmetic arithmetic = arithmetic_(weight);
    if (arithmetic != own_arithmetic(weight)) out_.matches_reference_ = false;
    switch (arithmetic) {
      case LinearArithmetic::kGroups:
        return lower_groups(node, a);
      case LinearArithmetic::kInt16Rows:
        return lower_coded(node, a, {kInt16CodeMax, -1});
      case LinearArithmetic::kInt8Static:
        return lower_coded(node, a, {kInt8CodeMax, static_scale_of(weight, kInt8CodeMax)});
      case LinearArithmetic::kInt16Static:
        return lower_coded(node, a, {kInt16CodeMax, static_scale_of(weight, kInt16CodeMax)});
      case LinearArithmetic::kF16:
        return lower_rounded(node, a, DType::kF16);
      case LinearArithmetic::kBf16:
        return lower_rounded(node, a, DType::kBF16);
      case LinearArithmetic::kMxfp8:
        return lower_rounded(node, a, DType::kMXFP8);
    }
    TANDEM_CHECK(false);
  }

  static float static_scale_of(const Weight& weight, int largest_code) {
    TANDEM_CHECK(weight.input != nullptr);
    return weight.input->static_scale(largest_code);
  }

  Result<void> lower_groups(const Node& node, const LinearAttributes& a) {
    const Weight& weight = graph_.weights[a.weight];
    const kernels::LinearRow* kernel = kernels::select_linear(kernels_.isa, weight.type);
    TANDEM_CHECK(kernel != nullptr);
    TANDEM_TRY(auto packed, weights_.packed(weight, pool_));
    out_.weight_bytes_ += packed->n_bytes();
    out_.low_plane_bytes_ += packed->low_bytes;
    const ValueId input = node.inputs[0];
    if (kernels::uses_quantized_activations(weight.type) && quantized_ != input) {
      TANDEM_TRY(add<QuantizeStep>(node, kernels_, input));
      quantized_ = input;
      out_.needs_.quantized_columns =
          std::max<size_t>(out_.needs_.quantized_columns, weight.columns);
    }
    std::vector<float> bias;
    if (a.bias) bias = decode_vector(graph_.weights[*a.bias]);
    return add_linear(node, input,
                      {*kernel, kernels::select_nested(kernels_.isa), std::move(packed),
                       std::move(bias), *node.output});
  }

  /// Joins the linear before it when both read the same input.
  Result<void> add_linear(const Node& node, ValueId input, LinearStep::Part part) {
    if (last_linear_ != nullptr && last_linear_->input() == input && input != *node.output) {
      last_linear_->add(std::move(part));
      out_.steps_.back().nodes.push_back(&node);
      return {};
    }
    TANDEM_TRY(add<LinearStep>(node, input, std::move(part)));
    last_linear_ = static_cast<LinearStep*>(out_.steps_.back().step.get());
    return {};
  }

  Result<void> lower_coded(const Node& node, const LinearAttributes& a, CodeFormat format) {
    const Weight& weight = graph_.weights[a.weight];
    const kernels::LinearRow* kernel = kernels::select_linear(kernels_.isa, weight.type);
    TANDEM_CHECK(kernel != nullptr && kernels::uses_quantized_activations(weight.type));
    TANDEM_TRY(auto packed, weights_.packed(weight, pool_));
    out_.weight_bytes_ += packed->n_bytes();
    out_.low_plane_bytes_ += packed->low_bytes;
    out_.needs_.quantized_columns = std::max<size_t>(out_.needs_.quantized_columns, weight.columns);
    out_.needs_.partial_columns = std::max<size_t>(out_.needs_.partial_columns, weight.rows);
    quantized_.reset();  // the codes in the scratch are of another kind
    std::vector<float> bias;
    if (a.bias) bias = decode_vector(graph_.weights[*a.bias]);
    return add<CodedLinearStep>(node, format, *kernel, kernels::select_nested(kernels_.isa),
                                std::move(packed), std::move(bias), node.inputs[0], *node.output);
  }

  Result<void> lower_rounded(const Node& node, const LinearAttributes& a, DType type) {
    const Weight& weight = graph_.weights[a.weight];
    const kernels::LinearRow* kernel = kernels::select_linear(kernels_.isa, type);
    TANDEM_CHECK(kernel != nullptr);
    TANDEM_TRY(auto packed, weights_.packed_as(weight, type, pool_));
    out_.weight_bytes_ += packed->n_bytes();
    out_.needs_.partial_columns = std::max<size_t>(out_.needs_.partial_columns, weight.columns);
    std::vector<float> bias;
    if (a.bias) bias = decode_vector(graph_.weights[*a.bias]);
    return add<RoundedLinearStep>(node, *kernel, std::move(packed), std::move(bias), node.inputs[0],
                                  *node.output);
  }

  Result<void> lower_attention(const Node& node, const AttentionAttributes& a) {
    const KvState& kv = std::get<KvState>(graph_.states[a.state]);
    out_.needs_.attention_bytes = std::max(
        out_.needs_.attention_bytes,
        kernels::attention_scratch_bytes(a.n_heads, kv.n_kv_heads, kv.key_size, kv.value_size));
    return add<AttentionStep>(node, kernels_, a, node.inputs[0], *node.output);
  }

  const Graph& graph_;
  const StepShape& shape_;
  const KernelSet& kernels_;
  WeightStore& weights_;
  ThreadPool& pool_;
  const ArithmeticOf& arithmetic_;
  CpuExecutable& out_;
  std::set<WeightId> used_by_linear_;
  LinearStep* last_linear_ = nullptr;  ///< the last step, if it is a linear
  std::optional<ValueId> quantized_;   ///< the value that the scratch holds quantized
};

Result<std::unique_ptr<CpuExecutable>> CpuExecutable::create(const Graph& graph, NodeRange segment,
                                                             const StepShape& shape,
                                                             const WorkspaceLayout& layout,
                                                             const LoweringContext& context) {
  std::unique_ptr<CpuExecutable> out(new CpuExecutable(graph, layout, context.kernels));
  Lowering lowering(graph, shape, context, *out);
  lowering.prepare();
  for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
    TANDEM_TRY(lowering.lower(graph.nodes[i]));
  }
  return out;
}

Result<void> CpuExecutable::run(const Bindings& bindings, ThreadPool& pool,
                                Scratch& scratch) const {
  const StepContext context{graph_, layout_, bindings, pool, scratch};
  for (const NodeStep& s : steps_) {
    if (bindings.cancel != nullptr && bindings.cancel->load(std::memory_order_relaxed)) {
      return failure(ErrorCode::kCancelled, "cancelled");
    }
    bindings.observer == nullptr ? s.step->run(context) : run_observed(context, s);
    if (!bindings.check_finite) continue;
    for (const Node* node : s.nodes) TANDEM_TRY(check_output(context, *node));
  }
  return {};
}

void CpuExecutable::run_observed(const StepContext& context, const NodeStep& s) const {
  announce_linears(context, s);
  const double start = monotonic_seconds();
  s.step->run(context);
  context.bindings.observer->after_work(graph_, s.nodes, start, monotonic_seconds());
}

void CpuExecutable::announce_linears(const StepContext& context, const NodeStep& s) const {
  for (const Node* node : s.nodes) {
    if (node->op != Op::kLinear) continue;
    // The quantize step came before it, with the same input.
    const bool is_known = &s != steps_.data() && std::ranges::count((&s - 1)->nodes, node) > 0;
    if (is_known) continue;
    const ValueId input = node->inputs[0];
    context.bindings.observer->before_linear(graph_, *node, context.value(input),
                                             context.n_rows(input));
  }
}

namespace {

/// Where in its sequence the token stands that row `row` of a value belongs to.
uint32_t position_of(const StepContext& context, ValueId value, size_t row) {
  const Bindings& bindings = context.bindings;
  const bool is_token = context.graph.values[value].rows == RowSet::kTokens;
  const auto token = static_cast<uint32_t>(is_token ? row : bindings.output_rows[row]);
  for (const SequenceRows& s : bindings.sequences) {
    if (token - s.first_row < s.n_rows) return s.first_position + token - s.first_row;
  }
  return token;
}

}  // namespace

Result<void> CpuExecutable::check_output(const StepContext& context, const Node& node) const {
  if (!node.output) return {};
  const size_t width = context.width(*node.output);
  for (size_t row = 0; row < context.n_rows(*node.output); ++row) {
    if (kernels_.elementwise.all_finite(context.value(*node.output) + row * width, width)) continue;
    return failure(ErrorCode::kNumeric,
                   "node {} wrote NaN or infinity at position {} (row {} of {})", node.name,
                   position_of(context, *node.output, row), row, context.n_rows(*node.output));
  }
  return {};
}

}  // namespace tandem
