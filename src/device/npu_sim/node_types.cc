// Which number formats an NPU runs a node in.

#include "device/npu_sim/node_types.h"

#include "kernels/linear/linear.h"

namespace tandem {
namespace {

using soc::NumericType;

ReasonCode code_of(soc::RefusalKind kind) {
  switch (kind) {
    case soc::RefusalKind::kUnsupportedOp:
      return ReasonCode::kUnsupportedOp;
    case soc::RefusalKind::kUnsupportedDtype:
      return ReasonCode::kUnsupportedDtype;
    case soc::RefusalKind::kAlignment:
      return ReasonCode::kAlignment;
    case soc::RefusalKind::kDriverTooOld:
      return ReasonCode::kDriverTooOld;
    case soc::RefusalKind::kDynamicShape:
      return ReasonCode::kDynamicShape;
  }
  return ReasonCode::kUnsupportedOp;
}

const Weight* matrix_of(const Graph& graph, const Node& node) {
  if (const auto* a = std::get_if<LinearAttributes>(&node.attributes)) {
    return &graph.weights[a->weight];
  }
  if (const auto* a = std::get_if<EmbedAttributes>(&node.attributes)) {
    return &graph.weights[a->table];
  }
  return nullptr;
}

soc::OperatorUse use_of(const Graph& graph, const Node& node, const StepShape& shape) {
  soc::OperatorUse use{.op = node.op,
                       .activations = NumericType::kInt8,
                       .weights = NumericType::kInt8,
                       .rows = shape.max_tokens};
  if (const Weight* w = matrix_of(graph, node)) {
    use.n = w->rows;
    use.k = w->columns;
  } else if (const auto* a = std::get_if<AttentionAttributes>(&node.attributes)) {
    const KvState& kv = std::get<KvState>(graph.states[a->state]);
    use.n = kv.value_size;
    use.k = kv.key_size;
  } else if (node.output) {
    use.n = use.k = graph.values[*node.output].width;
  }
  if (node.output && graph.values[*node.output].rows == RowSet::kOutputs) {
    use.rows = shape.max_outputs;
  }
  return use;
}

/// Both planes of a nested weight are read as integers only.
bool has_arithmetic(const NodeTypes& chosen, const Weight& weight) {
  if (weight.nested && !soc::is_integer(chosen.types.activations)) return false;
  return arithmetic_of(chosen, weight.type).has_value();
}

/// Whether the weight's input may be taken in `activations` with a scale of that kind.
std::optional<Reason> check_input(const soc::NpuProfile& npu, const Weight& weight,
                                  NumericType activations, soc::ActivationScale scale) {
  const LinearInput* input = weight.input.get();
  const bool is_narrow = soc::bits_of(activations) < 16;
  if (input != nullptr && input->wide && is_narrow) {
    return Reason{ReasonCode::kUnsupportedDtype,
                  fmt::format("the input of {} is marked for 16 bits, {} would take {}",
                              weight.name, npu.name, soc::to_string(activations))};
  }
  if (scale != soc::ActivationScale::kStatic) return std::nullopt;
  if (input == nullptr) {
    return Reason{ReasonCode::kNotQuantized,
                  fmt::format("{} takes static scales, and no range of the input of {} is stored; "
                              "convert --calibrate stores them",
                              npu.name, weight.name)};
  }
  if (!input->outlier_channels.empty() && is_narrow) {
    return Reason{
        ReasonCode::kUnsupportedDtype,
        fmt::format("the input of {} has {} outlier channels, too many for one {} scale",
                    weight.name, input->outlier_channels.size(), soc::to_string(activations))};
  }
  return std::nullopt;
}

std::optional<Reason> check_memory(const soc::NpuProfile& npu, const Graph& graph,
                                   const Node& node) {
  const auto* linear = std::get_if<LinearAttributes>(&node.attributes);
  if (linear == nullptr) return std::nullopt;
  const Weight& w = graph.weights[linear->weight];
  const double bytes = static_cast<double>(w.bytes.size());
  if (npu.limits.context_bytes > 0 && bytes > npu.limits.context_bytes) {
    return Reason{ReasonCode::kExceedsContextMemory,
                  fmt::format("{} has {} bytes, a context of {} maps {:.0f}", w.name,
                              w.bytes.size(), npu.name, npu.limits.context_bytes)};
  }
  // One row in and one row out, f32 while they are scaled.
  const double row = (double{w.rows * 1.0} + w.columns) * sizeof(float);
  if (npu.sram_bytes > 0 && row > npu.sram_bytes / 2) {
    return Reason{ReasonCode::kExceedsSram,
                  fmt::format("one row of {} takes {:.0f} bytes, half the SRAM of {} is {:.0f}",
                              node.name, row, npu.name, npu.sram_bytes / 2)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<NumericType> numeric_type_of(DType type) {
  switch (type) {
    case DType::kF32:
      return NumericType::kFp32;
    case DType::kF16:
      return NumericType::kFp16;
    case DType::kBF16:
      return NumericType::kBf16;
    case DType::kMXFP8:
      return NumericType::kFp8;
    case DType::kQ2_0:
    case DType::kQ2_K:
      return NumericType::kInt2;
    case DType::kQ4_24:
    case DType::kQ4_0:
    case DType::kQ4_1:
    case DType::kQ3_K:
    case DType::kQ4_K:
    case DType::kIQ4_NL:
    case DType::kIQ4_XS:
      return NumericType::kInt4;
    case DType::kQ5_0:
    case DType::kQ5_1:
    case DType::kQ5_K:
    case DType::kQ6_K:
    case DType::kQ8_0:
      return NumericType::kInt8;
    default:
      return std::nullopt;
  }
}

std::optional<LinearArithmetic> arithmetic_of(const NodeTypes& chosen, DType weight) {
  const bool quantized = kernels::uses_quantized_activations(weight);
  const bool is_static = chosen.scale == soc::ActivationScale::kStatic;
  switch (chosen.types.activations) {
    case NumericType::kInt8:
      if (!quantized) return std::nullopt;
      return is_static ? LinearArithmetic::kInt8Static : LinearArithmetic::kGroups;
    case NumericType::kInt16:
      if (!quantized) return std::nullopt;
      return is_static ? LinearArithmetic::kInt16Static : LinearArithmetic::kInt16Rows;
    case NumericType::kFp8:
      if (weight != DType::kMXFP8) return std::nullopt;
      return LinearArithmetic::kMxfp8;
    case NumericType::kFp16:
      return LinearArithmetic::kF16;
    case NumericType::kBf16:
      return LinearArithmetic::kBf16;
    case NumericType::kFp32:
      if (quantized) return std::nullopt;
      return LinearArithmetic::kGroups;
    default:
      return std::nullopt;
  }
}

NodeTypes choose_types(const soc::NpuProfile& npu, const Graph& graph, const Node& node,
                       const StepShape& shape) {
  NodeTypes out;
  soc::OperatorUse use = use_of(graph, node, shape);
  const Weight* matrix = matrix_of(graph, node);
  if (matrix != nullptr) {
    const auto type = numeric_type_of(matrix->type);
    if (!type) {
      out.refusal = Reason{ReasonCode::kUnsupportedDtype,
                           fmt::format("{} has type {}, which {} does not compute with",
                                       matrix->name, name(matrix->type), npu.name)};
      return out;
    }
    use.weights = matrix->nested ? NumericType::kInt8 : *type;
  }
  out.types.weights = use.weights;
  bool has_rule = false;
  for (const soc::OperatorRule& rule : npu.operators) {
    if (rule.op != node.op) continue;
    for (soc::NumericType activations : rule.activations) {
      has_rule = true;
      use.activations = out.types.activations = activations;
      out.scale = rule.activation_scale;
      if (const auto refusal = soc::check_operator(npu, use)) {
        out.refusal = Reason{code_of(refusal->kind), refusal->sentence};
        continue;
      }
      if (node.op == Op::kLinear) {
        if (!has_arithmetic(out, *matrix)) continue;
        out.refusal = check_input(npu, *matrix, activations, rule.activation_scale);
        if (out.refusal) continue;
      }
      out.refusal = check_memory(npu, graph, node);
      return out;
    }
  }
  if (!has_rule) {
    const auto refusal = soc::check_operator(npu, use);
    out.refusal = refusal ? Reason{code_of(refusal->kind), refusal->sentence}
                          : Reason{ReasonCode::kUnsupportedOp,
                                   fmt::format("{} has no {}", npu.name, to_string(node.op))};
    return out;
  }
  const bool wants_codes = matrix != nullptr && soc::bits_of(use.weights) >= 16;
  if (wants_codes && (!out.refusal || out.refusal->code == ReasonCode::kUnsupportedDtype)) {
    out.refusal =
        Reason{ReasonCode::kNotQuantized,
               fmt::format("{} has type {}; {} takes quantized weights for {}", matrix->name,
                           name(matrix->type), npu.name, to_string(node.op))};
  }
  if (!out.refusal) {
    out.refusal = Reason{ReasonCode::kUnsupportedDtype,
                         fmt::format("{} has no arithmetic for {} with {} activations", npu.name,
                                     soc::to_string(use.weights), soc::to_string(use.activations))};
  }
  return out;
}

}  // namespace tandem
