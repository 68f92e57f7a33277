// Runs one case on a device and on the processor's scalar kernels, and compares.

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "device/cpu/cpu_device.h"
#include "tests/conformance/conformance.h"

namespace tandem::testing {
namespace {

constexpr uint32_t kPaddingRows = 3;
constexpr size_t kGuardBytes = 256;
constexpr std::byte kGuard{0x5a};

/// Every value at a place of its own, so that what a device must not touch can be compared.
WorkspaceLayout separate_layout(const Graph& graph, const StepShape& shape) {
  WorkspaceLayout out;
  for (const Value& value : graph.values) {
    out.offsets.push_back(out.size_bytes);
    const uint64_t rows = std::max(shape.max_tokens, shape.max_outputs);
    out.size_bytes += (rows * value.width * sizeof(float) + 63) / 64 * 64 + kGuardBytes;
  }
  return out;
}

/// The memory of one run of a case.
class CaseRun {
 public:
  CaseRun(const OpCase& c, const StepShape& shape)
      : case_(c), layout(separate_layout(*c.graph, shape)) {
    workspace_ = *Buffer::allocate(layout.size_bytes, "a conformance case");
    std::memset(workspace_.data(), static_cast<int>(kGuard), workspace_.size());
    for (size_t s = 0; s < c.rows.size(); ++s) {
      states_.push_back(*SequenceState::create(*c.graph, c.positions[s] + c.rows[s]));
      fill_past(states_.back(), c.positions[s], s);
    }
    uint32_t row = 0;
    for (size_t s = 0; s < c.rows.size(); ++s) {
      sequences_.push_back({row, c.rows[s], c.positions[s], &states_[s]});
      row += c.rows[s];
    }
    for (uint32_t i = 0; i < row; ++i) tokens_.push_back(static_cast<int32_t>((i * 29 + 5) % 64));
    for (uint32_t i = 0; i < row; i += 2) outputs_.push_back(i);
  }
  CaseRun(const CaseRun&) = delete;

  Bindings bindings() {
    Bindings out;
    out.tokens = tokens_;
    out.sequences = sequences_;
    out.output_rows = outputs_;
    out.workspace = workspace_.data();
    return out;
  }

  Result<void> execute(Device& device, NodeRange nodes, const StepShape& shape) {
    if (nodes.count == 0) return {};
    TANDEM_TRY(const auto executable, device.compile(*case_.graph, nodes, shape, layout));
    matches_reference = executable->matches_reference();
    return device.enqueue(*executable, bindings(), {}).wait();
  }

  std::span<const float> value(ValueId id) const {
    const Value& v = case_.graph->values[id];
    const size_t rows = v.rows == RowSet::kTokens ? tokens_.size() : outputs_.size();
    return {workspace_.as<float>(layout.offsets[id]), rows * v.width};
  }

  void copy_values(const CaseRun& other, ValueId n_values) {
    for (ValueId id = 0; id < n_values; ++id) {
      const auto from = other.value(id);
      std::memcpy(workspace_.data() + layout.offsets[id], from.data(), from.size_bytes());
    }
  }

  /// Whether the bytes between the values are still what they were.
  bool guards_hold(const StepShape& shape) const {
    for (ValueId id = 0; id < layout.offsets.size(); ++id) {
      const uint64_t rows = std::max(shape.max_tokens, shape.max_outputs);
      const uint64_t end =
          layout.offsets[id] + rows * case_.graph->values[id].width * sizeof(float);
      const std::byte* guard = workspace_.data() + (end + 63) / 64 * 64;
      if (!std::all_of(guard, guard + kGuardBytes, [](std::byte b) { return b == kGuard; })) {
        return false;
      }
    }
    return true;
  }

  const std::vector<SequenceState>& states() const { return states_; }

 private:
  /// Keys and values of the positions before the step.
  void fill_past(SequenceState& state, uint32_t n, size_t seed) {
    std::mt19937 random(static_cast<uint32_t>(seed + 3));
    std::normal_distribution<float> normal;
    for (StateId id = 0; n > 0 && id < state.n_states(); ++id) {
      const kernels::KvView& kv = state.kv(id);
      std::vector<float> k(n * kv.n_kv_heads * kv.key_size), v(n * kv.n_kv_heads * kv.value_size);
      for (float& x : k) x = normal(random);
      for (float& x : v) x = normal(random);
      kernels::select_attention(kernels::Isa::kScalar)
          .write({.k = k.data(),
                  .v = v.data(),
                  .k_stride = k.size() / n * sizeof(float),
                  .v_stride = v.size() / n * sizeof(float),
                  .n_rows = n,
                  .first_position = 0,
                  .kv = kv});
    }
  }

  const OpCase& case_;

 public:
  WorkspaceLayout layout;
  bool matches_reference = false;  ///< as the executable that ran last says

 private:
  Buffer workspace_;
  std::vector<SequenceState> states_;
  std::vector<SequenceRows> sequences_;
  std::vector<int32_t> tokens_;
  std::vector<uint32_t> outputs_;
};

std::string compare(std::span<const float> ours, std::span<const float> expected, double bound) {
  if (bound == 0) {
    for (size_t i = 0; i < ours.size(); ++i) {
      if (std::memcmp(&ours[i], &expected[i], sizeof(float)) == 0) continue;
      return fmt::format("element {} is {}, the reference says {}", i, ours[i], expected[i]);
    }
    return "";
  }
  double error = 0, norm = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    error += (double{ours[i]} - expected[i]) * (double{ours[i]} - expected[i]);
    norm += double{expected[i]} * expected[i];
  }
  if (error <= bound * norm) return "";
  return fmt::format("normalised mean squared error {:.3g}, the bound is {:.3g}", error / norm,
                     bound);
}

bool same_cache(const SequenceState& a, const SequenceState& b, uint32_t n_positions) {
  for (StateId id = 0; id < a.n_states(); ++id) {
    const kernels::KvView &x = a.kv(id), &y = b.kv(id);
    for (size_t head = 0; head < x.n_kv_heads; ++head) {
      const size_t first = head * x.capacity * x.value_size;
      if (std::memcmp(x.values + first, y.values + first,
                      n_positions * x.value_size * sizeof(uint16_t)) != 0) {
        return false;
      }
    }
  }
  return true;
}

/// Nothing when the run is right.
std::string run_at_shape(Device& device, const OpCase& c, const StepShape& shape, double bound) {
  auto reference = make_cpu_device({.n_threads = 1, .isa = kernels::Isa::kScalar});
  CaseRun expected(c, shape), ours(c, shape);
  const NodeRange inputs{0, c.tested.first};
  if (auto made = expected.execute(**reference, inputs, shape); !made) return made.error().message;
  ours.copy_values(expected, c.tested.first);
  if (auto ran = expected.execute(**reference, c.tested, shape); !ran) return ran.error().message;
  if (auto ran = ours.execute(device, c.tested, shape); !ran) {
    return "supports() said yes, then: " + ran.error().message;
  }
  for (ValueId id = 0; id < c.tested.first; ++id) {
    const auto difference = compare(ours.value(id), expected.value(id), 0);
    if (!difference.empty()) return fmt::format("wrote over input {}: {}", id, difference);
  }
  if (!ours.guards_hold(shape)) return "wrote between the values of the workspace";
  const double limit = ours.matches_reference ? 0 : bound;
  if (limit == 0) {
    for (size_t s = 0; s < c.rows.size(); ++s) {
      if (!same_cache(ours.states()[s], expected.states()[s], c.positions[s] + c.rows[s])) {
        return fmt::format("the cache of sequence {} differs", s);
      }
    }
  }
  const Node& last = c.graph->nodes[c.tested.first + c.tested.count - 1];
  return compare(ours.value(*last.output), expected.value(*last.output), limit);
}

}  // namespace

CaseResult check_case(Device& device, const OpCase& c, double bound) {
  for (uint32_t i = 0; i < c.tested.count; ++i) {
    const Node& node = c.graph->nodes[c.tested.first + i];
    if (const auto reason = device.supports(*c.graph, node, c.shape)) {
      const std::string detail = fmt::format("{}: {}", to_string(reason->code), reason->sentence);
      return {c.name, reason->sentence.empty() ? Verdict::kWrong : Verdict::kUnsupported, detail};
    }
  }
  std::string wrong = run_at_shape(device, c, c.shape, bound);
  if (wrong.empty()) {
    const StepShape padded{c.shape.max_tokens + kPaddingRows, c.shape.max_outputs + kPaddingRows};
    wrong = run_at_shape(device, c, padded, bound);
    if (!wrong.empty()) wrong = "with padding rows: " + wrong;
  }
  return {c.name, wrong.empty() ? Verdict::kRight : Verdict::kWrong, wrong};
}

std::vector<float> results_of(Device& device, const OpCase& c) {
  auto reference = make_cpu_device({.n_threads = 1, .isa = kernels::Isa::kScalar});
  CaseRun run(c, c.shape);
  if (!run.execute(**reference, {0, c.tested.first}, c.shape)) return {};
  if (!run.execute(device, c.tested, c.shape)) return {};
  const auto out = run.value(*c.graph->nodes[c.tested.first + c.tested.count - 1].output);
  return {out.begin(), out.end()};
}

bool same_results(Device& a, Device& b, const OpCase& c) {
  const std::vector<float> first = results_of(a, c), second = results_of(b, c);
  return !first.empty() && compare(second, first, 0).empty();
}

}  // namespace tandem::testing
