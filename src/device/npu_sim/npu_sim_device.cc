// A virtual NPU: functional results from the processor's kernels, costs from the profile.

#include "device/npu_sim/npu_sim_device.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/hash.h"
#include "device/compile_cache.h"
#include "device/cpu/cpu_device.h"
#include "device/device_thread.h"
#include "device/npu_sim/node_types.h"
#include "graph/node_work.h"
#include "soc/cost.h"

namespace tandem {
namespace {

constexpr DType kWeightTypes[] = {DType::kF32,  DType::kF16,  DType::kBF16, DType::kMXFP8,
                                  DType::kQ2_K, DType::kQ4_0, DType::kQ8_0};

/// A segment compiled for the functional processor, and where its results lie.
class NpuSimExecutable : public Executable {
 public:
  NpuSimExecutable(Phase phase, std::unique_ptr<Executable> functional, const Value& output,
                   uint64_t output_offset, bool writes_logits, double compile_seconds)
      : phase(phase),
        functional(std::move(functional)),
        output_width(output.width),
        output_rows(output.rows),
        output_offset(output_offset),
        writes_logits(writes_logits),
        compile_seconds_(compile_seconds) {}
  uint64_t weight_bytes() const override { return functional->weight_bytes(); }
  bool matches_reference() const override { return functional->matches_reference(); }
  const Executable* reference() const override {
    return matches_reference() ? nullptr : functional.get();
  }
  double compile_seconds() const override { return compile_seconds_; }

  const Phase phase;
  const std::unique_ptr<Executable> functional;
  const uint32_t output_width;  ///< of the last value that the segment writes
  const RowSet output_rows;
  const uint64_t output_offset;
  const bool writes_logits;

 private:
  const double compile_seconds_;
};

/// The nodes of a segment with weights, types and a digest of each weight's ends.
std::string segment_text(const Graph& graph, NodeRange segment) {
  constexpr size_t kEnd = 4096;
  std::string out;
  for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
    const Node& node = graph.nodes[i];
    out += fmt::format("{} {}", node.name, to_string(node.op));
    if (const auto* a = std::get_if<LinearAttributes>(&node.attributes)) {
      const Weight& w = graph.weights[a->weight];
      const size_t n = std::min(kEnd, w.bytes.size());
      out += fmt::format(" {} {} {}x{} {:016x}", w.name, name(w.type), w.rows, w.columns,
                         content_hash(w.bytes.last(n), content_hash(w.bytes.first(n))));
      if (w.input) {
        out += fmt::format(" [{}, {}] {} {}", w.input->minimum, w.input->maximum,
                           w.input->outlier_channels.size(), w.input->wide);
      }
    }
    out += '\n';
  }
  return out;
}

class NpuSimDevice : public Device {
 public:
  NpuSimDevice(std::shared_ptr<const soc::SocProfile> profile, size_t index, const Device& cpu,
               const NpuSimOptions& options)
      : profile_(std::move(profile)),
        npu_(profile_->npus[index]),
        functional_(share_cpu_device(cpu, [this](const Weight& w) { return arithmetic_for(w); })),
        options_(options) {
    describe_profile(index, cpu.describe());
    if (options.asynchronous) thread_ = std::make_unique<DeviceThread>();
  }

  const Capabilities& describe() const override { return capabilities_; }

  std::optional<Reason> supports(const Graph& graph, const Node& node,
                                 const StepShape& shape) const override {
    return choose_types(npu_, graph, node, shape).refusal;
  }

  Estimate estimate(const Graph& graph, NodeRange segment, const StepLoad& load) const override;

  Result<std::unique_ptr<Executable>> compile(const Graph& graph, NodeRange segment,
                                              const StepShape& shape,
                                              const WorkspaceLayout& layout) override;

  Event enqueue(const Executable& executable, const Bindings& bindings,
                std::span<const Event> after) override;

  Result<Access> import(std::span<const std::byte>) override {
    if (lost_) return failure(ErrorCode::kDevice, "{} is lost", capabilities_.name);
    return Access::kMapped;
  }

  Result<void> set_power_state(PowerState) override { return {}; }

 private:
  void describe_profile(size_t index, const Capabilities& cpu);
  LinearArithmetic arithmetic_for(const Weight& weight) const;
  std::vector<soc::Work> works_of(const Graph& graph, NodeRange segment,
                                  const StepLoad& load) const;
  double compile_time(const Graph& graph, NodeRange segment, const StepShape& shape) const;
  bool fault_strikes(FaultKind kind, Phase phase);
  Result<void> execute(const NpuSimExecutable& executable, const Bindings& bindings);
  static void spoil(const NpuSimExecutable& executable, const Bindings& bindings);

  std::shared_ptr<const soc::SocProfile> profile_;
  const soc::NpuProfile& npu_;
  std::unique_ptr<Device> functional_;
  NpuSimOptions options_;
  Capabilities capabilities_;
  std::atomic<uint32_t> n_executions_{0};  ///< of the fault's phase
  std::atomic<bool> lost_{false};
  std::unique_ptr<DeviceThread> thread_;  ///< last: stops before the rest goes
};

/// The rows and columns do not matter to the arithmetic; the types do.
LinearArithmetic NpuSimDevice::arithmetic_for(const Weight& weight) const {
  Graph graph;
  graph.weights.push_back(weight);
  graph.values.push_back({"x", weight.columns, RowSet::kTokens});
  graph.values.push_back({"y", weight.rows, RowSet::kTokens});
  const Node node{Op::kLinear, "linear", -1, {0}, 1, LinearAttributes{0, std::nullopt}};
  const NodeTypes chosen = choose_types(npu_, graph, node, {1, 1});
  return arithmetic_of(chosen, weight.type).value_or(LinearArithmetic::kGroups);
}

void NpuSimDevice::describe_profile(size_t index, const Capabilities& cpu) {
  Capabilities& c = capabilities_;
  c.name = index == 0 ? "npu" : fmt::format("npu{}", index + 1);
  c.description = fmt::format("{} of {}, simulated", npu_.name, profile_->title);
  c.isa = cpu.isa;
  c.n_threads = cpu.n_threads;
  c.shares_memory = true;
  c.simulated = true;
  c.soc = profile_->name;
  c.knows_energy = true;
  c.driver = fmt::format("{} {}", npu_.name, npu_.driver);
  c.static_shapes = npu_.limits.static_shapes;
  c.memory_bytes_per_second = npu_.dma.near_memory ? 0 : profile_->dram.usable_bytes_per_s;
  for (const soc::PowerStateProfile& state : npu_.power_states) {
    if (state.kind == soc::PowerKind::kOff) c.wake_seconds = state.wake_s;
  }
  c.buckets = npu_.limits.buckets;
  c.context_memory_bytes = static_cast<uint64_t>(npu_.limits.context_bytes);
  c.max_contexts = npu_.limits.max_contexts;
  c.sram_bytes = static_cast<uint64_t>(npu_.sram_bytes / 2);  // the rest streams
  for (const soc::OperatorRule& rule : npu_.operators) {
    OpSupport support{
        .op = rule.op, .row_multiple = rule.n_multiple, .column_multiple = rule.k_multiple};
    for (DType type : kWeightTypes) {
      if (rule.op != Op::kLinear) break;
      const uint32_t n = std::max(rule.n_multiple, 1u), k = std::max(rule.k_multiple, 256u);
      const Weight weight{"weight", type, n, k, {}, nullptr};
      Graph graph;
      graph.weights.push_back(weight);
      graph.values.push_back({"x", k, RowSet::kTokens});
      graph.values.push_back({"y", n, RowSet::kTokens});
      const Node node{Op::kLinear, "linear", -1, {0}, 1, LinearAttributes{0, std::nullopt}};
      const NodeTypes chosen = choose_types(npu_, graph, node, {1, 1});
      if (chosen.refusal) continue;
      support.weight_types.push_back(type);
    }
    c.ops.push_back(std::move(support));
  }
}

std::vector<soc::Work> NpuSimDevice::works_of(const Graph& graph, NodeRange segment,
                                              const StepLoad& load) const {
  std::vector<soc::Work> out;
  for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
    const Node& node = graph.nodes[i];
    const NodeTypes chosen = choose_types(npu_, graph, node, {load.n_tokens, load.n_tokens});
    out.push_back(soc::work_of(graph, node, load.n_tokens, load.context, chosen.types));
    const auto* linear = std::get_if<LinearAttributes>(&node.attributes);
    if (linear == nullptr) continue;
    out.back().resident = std::find(load.resident.begin(), load.resident.end(), linear->weight) !=
                          load.resident.end();
  }
  return out;
}

Estimate NpuSimDevice::estimate(const Graph& graph, NodeRange segment, const StepLoad& load) const {
  Estimate out;
  if (segment.count == 0) {
    out.seconds = out.launch_seconds = npu_.launch_s;
    return out;
  }
  const std::vector<soc::Work> works = works_of(graph, segment, load);
  const soc::SegmentCost whole =
      soc::npu_cost(*profile_, npu_, works, {.with_spans = load.spans != nullptr});
  const soc::SegmentCost late = soc::npu_cost(*profile_, npu_, works, {.inputs_in_dram = false});
  const soc::SegmentCost inner =
      soc::npu_cost(*profile_, npu_, works, {.inputs_in_dram = false, .outputs_to_dram = false});
  if (load.spans != nullptr) {
    for (const soc::Span& span : whole.spans) {
      load.spans->push_back({soc::to_string(span.lane), segment.first + span.work, span.start_s,
                             span.end_s, span.bytes});
    }
  }
  out.seconds = whole.seconds;
  out.launch_seconds = whole.launch_s;
  out.entry_seconds = std::max(0.0, whole.seconds - late.seconds);
  out.exit_seconds = std::max(0.0, late.seconds - inner.seconds);
  out.bytes = whole.read_bytes + whole.written_bytes;
  out.joules = whole.energy.device();
  for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
    out.macs += count_work(graph, graph.nodes[i], load.n_tokens, load.context).macs;
  }
  return out;
}

Result<std::unique_ptr<Executable>> NpuSimDevice::compile(const Graph& graph, NodeRange segment,
                                                          const StepShape& shape,
                                                          const WorkspaceLayout& layout) {
  if (lost_) return failure(ErrorCode::kDevice, "{} is lost", capabilities_.name);
  if (options_.fault && options_.fault->kind == FaultKind::kOutOfMemory &&
      options_.fault->phase == graph.phase) {
    return failure(ErrorCode::kOutOfMemory, "{}: no memory for a segment of {} nodes (injected)",
                   capabilities_.name, segment.count);
  }
  for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
    if (const auto reason = supports(graph, graph.nodes[i], shape)) {
      return failure(ErrorCode::kUnsupported, "{}: {}", graph.nodes[i].name, reason->sentence);
    }
  }
  TANDEM_TRY(auto functional, functional_->compile(graph, segment, shape, layout));
  Value output{"", 0, RowSet::kTokens};  // none: a segment that only writes the cache
  uint64_t offset = 0;
  bool writes_logits = false;
  for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
    if (!graph.nodes[i].output) continue;
    const ValueId id = *graph.nodes[i].output;
    output = graph.values[id];
    offset = layout.offsets[id];
    writes_logits = id == graph.logits;
  }
  return std::make_unique<NpuSimExecutable>(graph.phase, std::move(functional), output, offset,
                                            writes_logits, compile_time(graph, segment, shape));
}

/// What compiling takes on this chip, unless an earlier run left the segment in the cache. What a
/// real compiler would emit is its command stream; here the entry is the list of nodes.
double NpuSimDevice::compile_time(const Graph& graph, NodeRange segment,
                                  const StepShape& shape) const {
  const double seconds = soc::compile_seconds(npu_, segment.count);
  if (options_.compile_cache == nullptr) return seconds;
  const std::string nodes = segment_text(graph, segment);
  const CompileKey key{
      {"chip", profile_->name},
      {"npu", npu_.name},
      {"driver", npu_.driver},
      {"phase", to_string(graph.phase)},
      {"shape", fmt::format("{} rows, {} outputs", shape.max_tokens, shape.max_outputs)},
      {"nodes", fmt::format("{:016x}", content_hash(std::as_bytes(std::span(nodes))))}};
  const auto found = options_.compile_cache->find(key);
  const auto code = std::as_bytes(std::span(nodes));
  const bool is_ours = found.entry && std::ranges::equal(found.entry->code, code);
  if (is_ours) return 0;
  options_.compile_cache->keep(key, code);
  return seconds;
}

/// Whether an execution of this phase is the one, or comes after it.
bool NpuSimDevice::fault_strikes(FaultKind kind, Phase phase) {
  return options_.fault && options_.fault->kind == kind && options_.fault->phase == phase &&
         n_executions_ > options_.fault->after;
}

/// Numbers that are plausible and wrong: the first result of each row doubled, plus one.
void NpuSimDevice::spoil(const NpuSimExecutable& e, const Bindings& bindings) {
  float* values = e.writes_logits ? bindings.logits
                                  : reinterpret_cast<float*>(bindings.workspace + e.output_offset);
  const bool one_a_token = e.output_rows == RowSet::kTokens;
  const size_t n_rows = one_a_token ? bindings.tokens.size() : bindings.output_rows.size();
  if (e.output_width == 0) return;
  for (size_t row = 0; row < n_rows; ++row) {
    values[row * e.output_width] = 2 * values[row * e.output_width] + 1;
  }
}

Result<void> NpuSimDevice::execute(const NpuSimExecutable& e, const Bindings& bindings) {
  if (fault_strikes(FaultKind::kLost, e.phase)) lost_ = true;
  if (lost_) return failure(ErrorCode::kDevice, "{} is lost", capabilities_.name);
  if (fault_strikes(FaultKind::kError, e.phase)) {
    return failure(ErrorCode::kDevice, "{}: execution failed (injected)", capabilities_.name);
  }
  TANDEM_TRY(functional_->enqueue(*e.functional, bindings, {}).wait());
  if (fault_strikes(FaultKind::kWrongResult, e.phase)) spoil(e, bindings);
  return {};
}

Event NpuSimDevice::enqueue(const Executable& executable, const Bindings& bindings,
                            std::span<const Event> after) {
  const auto& e = static_cast<const NpuSimExecutable&>(executable);
  if (options_.fault && options_.fault->phase == e.phase) ++n_executions_;
  if (fault_strikes(FaultKind::kHang, e.phase)) {
    return Event::pending(std::make_shared<Completion>());  // which nobody completes
  }
  if (thread_) {
    return thread_->run(
        [this, &e, bindings,
         events = std::vector<Event>(after.begin(), after.end())]() -> Result<void> {
          for (const Event& event : events) TANDEM_TRY(event.wait());
          return execute(e, bindings);
        });
  }
  for (const Event& event : after) {
    if (auto outcome = event.wait(); !outcome) return Event::completed(std::move(outcome));
  }
  return Event::completed(execute(e, bindings));
}

}  // namespace

std::unique_ptr<Device> make_npu_sim(std::shared_ptr<const soc::SocProfile> profile, size_t index,
                                     const Device& cpu, const NpuSimOptions& options) {
  return std::make_unique<NpuSimDevice>(std::move(profile), index, cpu, options);
}

}  // namespace tandem
