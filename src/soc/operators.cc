// The operator matrix of a driver.

#include "soc/operators.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::soc {
namespace {

bool contains(const std::vector<NumericType>& types, NumericType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool has_weights(Op op) { return op == Op::kLinear || op == Op::kEmbed; }

std::string names(const std::vector<NumericType>& types) {
  std::string out;
  for (const NumericType type : types)
    out += (out.empty() ? "" : ", ") + std::string(to_string(type));
  return out;
}

/// How far a rule gets with a use: the refusal of the rule that gets farthest is told.
struct Attempt {
  int stage;
  std::optional<Refusal> refusal;
};

Attempt try_types(const NpuProfile& npu, const OperatorRule& rule, const OperatorUse& use) {
  if (!contains(rule.activations, use.activations)) {
    return {1, Refusal{RefusalKind::kUnsupportedDtype,
                       fmt::format("{} takes activations of {} for {}, not {}", npu.name,
                                   names(rule.activations), to_string(rule.op),
                                   to_string(use.activations))}};
  }
  if (has_weights(rule.op) && !contains(rule.weights, use.weights)) {
    return {2, Refusal{RefusalKind::kUnsupportedDtype,
                       fmt::format("{} takes weights of {} with {} activations for {}, not {}",
                                   npu.name, names(rule.weights), to_string(use.activations),
                                   to_string(rule.op), to_string(use.weights))}};
  }
  return {3, std::nullopt};
}

std::optional<Refusal> try_sizes(const NpuProfile& npu, const OperatorRule& rule,
                                 const OperatorUse& use) {
  const auto alignment = [&](const char* what, uint64_t value, uint32_t multiple) {
    return Refusal{RefusalKind::kAlignment, fmt::format("{} of {} is {}, not a multiple of {}",
                                                        what, to_string(rule.op), value, multiple)};
  };
  if (use.n % rule.n_multiple != 0) return alignment("N", use.n, rule.n_multiple);
  if (use.k % rule.k_multiple != 0) return alignment("K", use.k, rule.k_multiple);
  if (rule.max_dimension != 0 && std::max(use.n, use.k) > rule.max_dimension) {
    return Refusal{RefusalKind::kUnsupportedOp,
                   fmt::format("{} has a side of {}, above {}'s limit of {}", to_string(rule.op),
                               std::max(use.n, use.k), npu.name, rule.max_dimension)};
  }
  if (rule.max_rows != 0 && use.rows > rule.max_rows) {
    return Refusal{RefusalKind::kUnsupportedOp,
                   fmt::format("{} of {} rows is above {}'s limit of {}", to_string(rule.op),
                               use.rows, npu.name, rule.max_rows)};
  }
  return std::nullopt;
}

Attempt try_rule(const NpuProfile& npu, const OperatorRule& rule, const OperatorUse& use) {
  if (Attempt types = try_types(npu, rule, use); types.refusal) return types;
  if (!rule.since_driver.empty() && compare_versions(npu.driver, rule.since_driver) < 0) {
    return {3, Refusal{RefusalKind::kDriverTooOld,
                       fmt::format("{} needs driver {} for {}; this one is {}", npu.name,
                                   rule.since_driver, to_string(rule.op), npu.driver)}};
  }
  return {4, try_sizes(npu, rule, use)};
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const auto part = [](std::string_view& text) {
      const size_t dot = text.find('.');
      const std::string_view head = text.substr(0, dot);
      text = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
      uint64_t value = 0;
      for (const char c : head.substr(0, 18))
        value = c >= '0' && c <= '9' ? value * 10 + (c - '0') : value;
      return value;
    };
    const uint64_t x = part(a);
    const uint64_t y = part(b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

std::optional<Refusal> check_operator(const NpuProfile& npu, const OperatorUse& use) {
  if (use.rows == 0 && npu.limits.static_shapes) {
    return Refusal{RefusalKind::kDynamicShape,
                   fmt::format("{} compiles for fixed token counts only", npu.name)};
  }
  Attempt best{
      0, Refusal{RefusalKind::kUnsupportedOp,
                 fmt::format("{} (driver {}) has no {}", npu.name, npu.driver, to_string(use.op))}};
  for (const OperatorRule& rule : npu.operators) {
    if (rule.op != use.op) continue;
    Attempt attempt = try_rule(npu, rule, use);
    if (!attempt.refusal) return std::nullopt;
    if (attempt.stage > best.stage) best = std::move(attempt);
  }
  return best.refusal;
}

}  // namespace tandem::soc
