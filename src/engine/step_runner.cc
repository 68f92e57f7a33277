// Runs steps over several devices, and goes on without one that fails.

#include "engine/step_runner.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "engine/split_linear.h"
#include "graph/node_work.h"

namespace tandem {
namespace {

// Simulated costs are asked for at contexts rounded up to this: one request for many tokens.
constexpr uint32_t kContextStep = 32;

// Executions of a segment at each size that are checked whatever SafetyOptions::check_every is.
constexpr uint64_t kFirstChecks = 2;

uint32_t context_of(const Bindings& b) {
  uint32_t out = 1;
  for (const SequenceRows& s : b.sequences) out = std::max(out, s.first_position + s.n_rows);
  return out;
}

uint32_t first_position(const Bindings& b) {
  return b.sequences.empty() ? 0 : b.sequences.front().first_position;
}

}  // namespace

StepRunner::StepRunner(std::vector<std::unique_ptr<Device>> devices, const SafetyOptions& safety)
    : devices_(std::move(devices)), safety_(safety) {
  for (const auto& device : devices_) {
    if (device->describe().host) host_ = device.get();
    facts_.push_back(device->describe());
  }
  TANDEM_CHECK(host_ != nullptr);
}

StepRunner::~StepRunner() {
  // Devices end their work before the memory goes that it may write to.
  lanes_.reset();
  phases_.clear();
  retired_.clear();
  devices_.clear();
}

std::vector<Device*> StepRunner::devices() const {
  std::vector<Device*> out;
  for (const auto& device : devices_) out.push_back(device.get());
  return out;
}

bool StepRunner::is_out(const std::string& device) const {
  return std::any_of(incidents_.begin(), incidents_.end(),
                     [&](const Incident& i) { return i.device == device; });
}

Device& StepRunner::device_named(const std::string& name) const {
  if (is_out(name)) return *host_;
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const auto& d) { return d->describe().name == name; });
  TANDEM_CHECK(found != devices_.end());
  return **found;
}

/// Devices that are out give way to the host.
tl::expected<CompiledSegment, StepRunner::CompileFailure> StepRunner::compile_segment(
    const Graph& graph, const PhasePlan& plan, const Segment& planned) const {
  Device& home = device_named(planned.device);
  Device& rest = planned.split ? device_named(planned.split->device) : home;
  CompiledSegment out{&home, planned.nodes, nullptr};
  if (&rest == &home) {
    auto made = home.compile(graph, planned.nodes, plan.shape, plan.workspace);
    if (!made) return tl::unexpected(CompileFailure{&home, std::move(made.error())});
    out.executable = std::move(*made);
    return out;
  }
  out.device = home.describe().host ? &rest : &home;
  auto made = SplitLinear::compile(graph, graph.nodes[planned.nodes.first], *planned.split, home,
                                   rest, plan.workspace);
  if (!made) return tl::unexpected(CompileFailure{out.device, std::move(made.error())});
  out.split = made->get();
  out.executable = std::move(*made);
  return out;
}

Result<size_t> StepRunner::add_phase(const Graph& graph, const PhasePlan& plan) {
  CompiledPhase phase{&graph, &plan, {}};
  for (const Segment& planned : plan.segments) {
    auto made = compile_segment(graph, plan, planned);
    if (!made && made.error().device != host_) {
      const Reason reason{ReasonCode::kDeviceFailed, made.error().error.message};
      TANDEM_TRY(demote(*made.error().device, reason, phase, nullptr));
      made = compile_segment(graph, plan, planned);
    }
    if (!made) return tl::unexpected(made.error().error);
    phase.segments.push_back(std::move(*made));
  }
  workspace_bytes_ = std::max(workspace_bytes_, plan.workspace.size_bytes);
  phases_.push_back(std::move(phase));
  // A device demoted just now has segments in this phase that were compiled for it before.
  for (CompiledSegment& s : phases_.back().segments) {
    if (!is_out(s.device->describe().name)) continue;
    TANDEM_TRY(move_to_host(phases_.back(), s));
  }
  return phases_.size() - 1;
}

Result<void> StepRunner::reserve(uint32_t max_rows, uint64_t logits_bytes) {
  const bool any = std::ranges::any_of(phases_, [&](const auto& p) { return overlaps(p); });
  if (any) lanes_ = std::make_unique<DeviceLanes>(devices_.size());
  workspaces_.resize(any ? kPromptWorkspaces : 1);
  TANDEM_TRY(replace_workspaces());
  for (const Buffer& workspace : workspaces_) {
    TANDEM_TRY(import(workspace.bytes(), "workspace"));
  }
  bool delegates = false;
  for (CompiledPhase& phase : phases_) {
    for (CompiledSegment& s : phase.segments) {
      if (s.device == host_) continue;
      delegates = true;
      if (safety_.check_every == 0 || s.executable->reference() != nullptr) continue;
      TANDEM_TRY(s.on_host,
                 host_->compile(*phase.graph, s.nodes, phase.plan->shape, phase.plan->workspace));
    }
  }
  if (!delegates || safety_.check_every == 0) return {};
  const uint64_t state_bytes = SequenceState::bytes_needed(*phases_.front().graph, max_rows);
  TANDEM_TRY(check_, SelfCheck::create(workspace_bytes_, logits_bytes, state_bytes));
  return {};
}

Result<void> StepRunner::import(std::span<const std::byte> memory, const char* owner) {
  for (const auto& device : devices_) {
    if (device.get() == host_) continue;
    const std::string& name = device->describe().name;
    if (is_out(name)) continue;
    const auto access = device->import(memory);
    if (access) {
      memory_.push_back({name, owner, memory.size(), *access});
      continue;
    }
    const Reason reason{ReasonCode::kDeviceFailed, access.error().message};
    TANDEM_TRY(demote(*device, reason, phases_.front(), nullptr));
  }
  return {};
}

void StepRunner::count_copies(const CompiledPhase& phase, const CompiledSegment& segment,
                              const Bindings& bindings) {
  const std::string& name = segment.device->describe().name;
  const bool copies = std::any_of(memory_.begin(), memory_.end(), [&](const MemoryUse& use) {
    return use.device == name && use.owner == "cache" && use.access == Access::kCopied;
  });
  if (!copies) return;
  for (uint32_t i = segment.nodes.first; i < segment.nodes.first + segment.nodes.count; ++i) {
    for (const SequenceRows& s : bindings.sequences) {
      copied_state_bytes_ +=
          count_work(*phase.graph, phase.graph->nodes[i], s.n_rows, s.first_position + s.n_rows)
              .state_bytes;
    }
  }
}

Result<void> StepRunner::run(size_t phase, Bindings bindings) {
  for (;;) {
    bindings.workspace = workspaces_.front().data();
    failed_ = nullptr;
    all_checked_ = true;
    auto outcome = run_segments(phases_[phase], bindings);
    if (failed_ == nullptr) {
      if (!outcome) return outcome;
      finish_step(phase, bindings, all_checked_);
      return {};
    }
    // The step starts again: values of its segments may be half written, what they were made from
    // is the tokens, and cache positions are written anew.
    TANDEM_TRY(demote(*failed_, {ReasonCode::kDeviceFailed, outcome.error().message},
                      phases_[phase], &bindings));
    TANDEM_TRY(replace_workspaces());
  }
}

void StepRunner::finish_step(size_t phase, const Bindings& bindings, bool all_checked) {
  if (all_checked)
    checked_until_ = first_position(bindings) + static_cast<uint32_t>(bindings.tokens.size());
  ++n_steps_;
  if (is_simulated()) account(phase, bindings);
}

/// A device that hangs may still write to the old ones.
Result<void> StepRunner::replace_workspaces() {
  for (Buffer& workspace : workspaces_) {
    if (workspace.size() > 0) abandoned_.push_back(std::move(workspace));
    TANDEM_TRY(workspace, Buffer::allocate(workspace_bytes_, "the workspace", BufferUse::kWhole));
  }
  return {};
}

Result<void> StepRunner::run_segments(CompiledPhase& phase, const Bindings& bindings) {
  std::optional<Event> last;
  for (CompiledSegment& s : phase.segments) {
    if (s.device == host_) {
      last = host_->enqueue(*s.executable, bindings,
                            last ? std::span<const Event>(&*last, 1) : std::span<const Event>());
      continue;
    }
    if (last) TANDEM_TRY(last->wait());
    last.reset();
    TANDEM_TRY(run_delegated(phase, s, bindings));
  }
  if (last) return last->wait();
  return {};
}

/// The first time finds a device that is wrong at some size, the second one that tells again what
/// it told before.
bool StepRunner::is_due_for_check(CompiledSegment& s, size_t n_rows) const {
  if (!check_) return false;
  const bool is_new = s.n_by_size[static_cast<size_t>(std::bit_width(n_rows))]++ < kFirstChecks;
  return s.n_executions++ % safety_.check_every == 0 || is_new;
}

Result<void> StepRunner::run_delegated(CompiledPhase& phase, CompiledSegment& s,
                                       const Bindings& bindings) {
  Device& device = *s.device;
  count_copies(phase, s, bindings);
  if (!is_due_for_check(s, bindings.tokens.size())) {
    all_checked_ = false;
    auto outcome =
        wait_within(start(s, bindings), device.describe().name, safety_.deadline_seconds);
    if (!outcome && !is_final(outcome.error().code)) failed_ = &device;
    return outcome;
  }
  auto wrong = check_->run(phase, s, *host_, bindings, safety_.deadline_seconds);
  if (!wrong) {
    if (!is_final(wrong.error().code)) failed_ = &device;
    return tl::unexpected(wrong.error());
  }
  if (!*wrong) return {};
  // The host's results are in place: the step goes on from here.
  return demote(device, {ReasonCode::kAccuracyCheckFailed, **wrong}, phase, &bindings);
}

Result<void> StepRunner::demote(Device& device, const Reason& reason, const CompiledPhase& phase,
                                const Bindings* bindings) {
  Incident incident{device.describe().name, reason, phase.graph->phase, n_steps_};
  if (bindings != nullptr && !bindings->sequences.empty()) {
    incident.position = bindings->sequences.front().first_position;
  }
  incident.suspect_from = incident.position;
  const bool may_be_older =
      reason.code == ReasonCode::kAccuracyCheckFailed && safety_.check_every != 1;
  if (may_be_older) {
    // Another conversation has checked since when the last check lies ahead of this position.
    incident.suspect_from = checked_until_ <= incident.position ? checked_until_ : 0;
  }
  incidents_.push_back(std::move(incident));
  for (CompiledPhase& other : phases_) {
    for (CompiledSegment& s : other.segments) {
      if (s.device == &device) TANDEM_TRY(move_to_host(other, s));
    }
  }
  estimates_.clear();
  return {};
}

Result<void> StepRunner::move_to_host(const CompiledPhase& phase, CompiledSegment& s) {
  if (!s.on_host) {
    TANDEM_TRY(s.on_host,
               host_->compile(*phase.graph, s.nodes, phase.plan->shape, phase.plan->workspace));
  }
  retired_.push_back(std::move(s.executable));  // a device that hangs may still look at it
  s.executable = std::move(s.on_host);
  s.split = nullptr;
  s.device = host_;
  return {};
}

StepLoad StepRunner::load_of(const CompiledPhase& phase, const CompiledSegment& segment,
                             uint32_t n_rows, uint32_t context) const {
  const bool is_padded = segment.device->describe().static_shapes;
  const uint32_t rows = is_padded ? phase.plan->shape.max_tokens : n_rows;
  return {.n_tokens = rows, .context = std::max(context, rows), .resident = phase.plan->resident};
}

Estimate StepRunner::estimate(size_t index, uint32_t n_rows, uint32_t context) {
  const CompiledPhase& phase = phases_[index];
  const uint32_t rounded = (context + kContextStep - 1) / kContextStep * kContextStep;
  const auto [entry, is_new] = estimates_.try_emplace({index, n_rows, rounded});
  if (!is_new) return entry->second;
  for (size_t i = 0; i < phase.segments.size(); ++i) {
    const CompiledSegment& s = phase.segments[i];
    entry->second += s.split != nullptr ? phase.plan->segments[i].estimate
                                        : s.device->estimate(*phase.graph, s.nodes,
                                                             load_of(phase, s, n_rows, rounded));
  }
  return entry->second;
}

bool StepRunner::is_used(const Device& device) const {
  for (const CompiledPhase& phase : phases_) {
    for (const CompiledSegment& s : phase.segments) {
      if (s.device == &device) return true;
    }
  }
  return false;
}

void StepRunner::warm_up() {
  if (is_warm_) return;
  is_warm_ = true;
  for (const CompiledPhase& phase : phases_) {
    for (const CompiledSegment& s : phase.segments) {
      simulated_.compile_seconds += s.executable->compile_seconds();
    }
  }
  for (const auto& device : devices_) {
    if (is_used(*device)) simulated_.wake_seconds += device->describe().wake_seconds;
  }
  simulated_.seconds += simulated_.compile_seconds + simulated_.wake_seconds;
}

void StepRunner::account(size_t index, const Bindings& bindings) {
  warm_up();
  const Estimate cost =
      estimate(index, static_cast<uint32_t>(bindings.tokens.size()), context_of(bindings));
  simulated_.joules += cost.joules;
  const CompiledPhase& phase = phases_[index];
  // Once a device is out its segments share the host's lane with the others: nothing overlaps.
  const bool may_overlap =
      phase.graph->phase == Phase::kPrefill && bindings.sequences.size() == 1 && incidents_.empty();
  if (may_overlap) return account_chunk(phase, bindings.sequences.front());
  simulated_.seconds += cost.seconds;
  prompt_ = {};
}

void StepRunner::account_chunk(const CompiledPhase& phase, const SequenceRows& rows) {
  const bool goes_on = prompt_.state == rows.state && prompt_.next_position == rows.first_position;
  if (!goes_on) prompt_ = {.state = rows.state, .started = simulated_.seconds};
  prompt_.next_position = rows.first_position + rows.n_rows;
  prompt_.chunks.push_back({phase.plan, rows.n_rows, prompt_.next_position});
  std::vector<Estimate>& costs = prompt_.costs.emplace_back();
  for (const CompiledSegment& s : phase.segments) {
    const StepLoad load = load_of(phase, s, rows.n_rows, prompt_.next_position);
    costs.push_back(s.device->estimate(*phase.graph, s.nodes, load));
  }
  const auto known = [&](const ChunkStep& step, size_t segment) {
    return prompt_.costs[static_cast<size_t>(&step - prompt_.chunks.data())][segment];
  };
  const auto tasks = prompt_tasks(*phase.graph, facts_, prompt_.chunks, known, kPromptWorkspaces);
  simulated_.seconds =
      prompt_.started + makespan(simulate(tasks, facts_.size(), shared_memory_bandwidth(facts_)));
}

}  // namespace tandem
