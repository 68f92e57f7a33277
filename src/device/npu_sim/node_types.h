#pragma once

#include <optional>

#include "device/cpu/linear_arithmetic.h"
#include "device/device.h"
#include "soc/operators.h"
#include "soc/profile.h"
#include "soc/work.h"

namespace tandem {

/// How an NPU would run a node: the number formats, or why it cannot.
struct NodeTypes {
  soc::WorkTypes types;
  soc::ActivationScale scale = soc::ActivationScale::kDynamic;
  std::optional<Reason> refusal;
};

/// The format that arithmetic sees in weights of a storage type: Q4_K is int4 with scales. Nothing
/// for a type that no unit computes with (MXFP4).
std::optional<soc::NumericType> numeric_type_of(DType type);

/// Tries the driver's rules for the node in the profile's order, each activation type in its order;
/// the first that takes the node's sizes holds.
NodeTypes choose_types(const soc::NpuProfile& npu, const Graph& graph, const Node& node,
                       const StepShape& shape);

/// The functional arithmetic that belongs to these formats; docs/npu_sim.md. Nothing when there is
/// none, and the node must be refused.
std::optional<LinearArithmetic> arithmetic_of(const NodeTypes& chosen, DType weight);

}  // namespace tandem
