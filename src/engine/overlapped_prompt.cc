// Runs the chunks of a prompt with segments of two of them under way at a time.

#include <algorithm>

#include "engine/step_runner.h"

namespace tandem {

bool StepRunner::overlaps(const CompiledPhase& phase) const {
  if (phase.graph->phase != Phase::kPrefill) return false;
  return std::ranges::any_of(phase.segments, [&](const CompiledSegment& s) {
    return s.device != phase.segments.front().device;
  });
}

Result<void> StepRunner::run_prompt(std::span<const PromptChunk> chunks,
                                    const std::function<void(size_t chunk)>& done) {
  size_t n_done = 0;
  // Those at the front: a prompt may end on another phase, whose graph is another one.
  const auto end = std::ranges::find_if_not(
      chunks, [&](const PromptChunk& c) { return overlaps(phases_[c.phase]); });
  const auto n_overlapped = static_cast<size_t>(end - chunks.begin());
  if (lanes_ && incidents_.empty() && n_overlapped >= 2) {
    failure_.reset();
    auto outcome = run_overlapped(chunks.first(n_overlapped), n_done, done);
    if (!outcome && !failure_) return outcome;
    if (failure_) {
      const PromptChunk& chunk = chunks[failure_->chunk];
      TANDEM_TRY(
          demote(*failure_->device, failure_->reason, phases_[chunk.phase], &chunk.bindings));
      TANDEM_TRY(replace_workspaces());
    }
  }
  for (; n_done < chunks.size(); ++n_done) {
    TANDEM_TRY(run(chunks[n_done].phase, chunks[n_done].bindings));
    done(n_done);
  }
  return {};
}

std::vector<Task> StepRunner::tasks_of(std::span<const PromptChunk> chunks) const {
  std::vector<ChunkStep> steps;
  for (const PromptChunk& c : chunks) {
    const SequenceRows& rows = c.bindings.sequences.front();
    steps.push_back({phases_[c.phase].plan, rows.n_rows, rows.first_position + rows.n_rows});
  }
  const auto cost = [&](const ChunkStep& step, size_t segment) {
    const CompiledPhase& phase = phases_[chunks[static_cast<size_t>(&step - steps.data())].phase];
    const CompiledSegment& s = phase.segments[segment];
    return s.device->estimate(*phase.graph, s.nodes, load_of(phase, s, step.n_rows, step.context));
  };
  return prompt_tasks(*phases_[chunks.front().phase].graph, facts_, steps, cost, kPromptWorkspaces);
}

Result<void> StepRunner::run_overlapped(std::span<const PromptChunk> chunks, size_t& n_done,
                                        const std::function<void(size_t chunk)>& done) {
  const std::vector<Task> tasks = tasks_of(chunks);
  std::vector<PromptChunk> placed(chunks.begin(), chunks.end());
  std::vector<size_t> n_left(chunks.size());
  std::vector<bool> all_checked(chunks.size(), true);
  std::vector<bool> is_checked(tasks.size());
  for (size_t c = 0; c < placed.size(); ++c) {
    placed[c].bindings.workspace = workspaces_[c % workspaces_.size()].data();
    n_left[c] = phases_[placed[c].phase].segments.size();
  }
  for (uint32_t t = 0; t < tasks.size(); ++t) {
    const PromptChunk& chunk = placed[tasks[t].chunk];
    CompiledSegment& s = phases_[chunk.phase].segments[tasks[t].segment];
    if (s.device == host_) continue;
    count_copies(phases_[chunk.phase], s, chunk.bindings);
    is_checked[t] = is_due_for_check(s, chunk.bindings.tokens.size());
    if (!is_checked[t]) all_checked[tasks[t].chunk] = false;
  }
  lanes_->set_tasks(
      tasks,
      [&](uint32_t t) {
        const PromptChunk& chunk = placed[tasks[t].chunk];
        return run_task(chunk.bindings, tasks[t].chunk, chunk.phase, tasks[t].segment,
                        is_checked[t]);
      },
      [&](uint32_t t) {
        --n_left[tasks[t].chunk];
        for (; n_done < chunks.size() && n_left[n_done] == 0; ++n_done) {
          finish_step(placed[n_done].phase, placed[n_done].bindings, all_checked[n_done]);
          done(n_done);
        }
      });
  return execute(tasks, devices_.size(), *lanes_);
}

Result<void> StepRunner::run_task(const Bindings& bindings, size_t chunk, size_t phase,
                                  size_t segment, bool is_checked) {
  CompiledSegment& s = phases_[phase].segments[segment];
  Device& device = *s.device;
  const auto failed = [&](ReasonCode code, const Error& error) -> Result<void> {
    const bool is_devices = &device != host_ && !is_final(error.code);
    const std::lock_guard lock(overlap_mutex_);
    if (is_devices && !failure_) failure_ = Failure{&device, {code, error.message}, chunk};
    return tl::unexpected(error);
  };
  if (!is_checked) {
    const double deadline = &device == host_ ? 0 : safety_.deadline_seconds;
    auto outcome = wait_within(start(s, bindings), device.describe().name, deadline);
    return outcome ? outcome : failed(ReasonCode::kDeviceFailed, outcome.error());
  }
  std::unique_lock lock(overlap_mutex_);
  auto wrong = check_->run(phases_[phase], s, *host_, bindings, safety_.deadline_seconds);
  lock.unlock();
  if (!wrong) return failed(ReasonCode::kDeviceFailed, wrong.error());
  if (!*wrong) return {};
  return failed(ReasonCode::kAccuracyCheckFailed, Error{ErrorCode::kDevice, **wrong});
}

}  // namespace tandem
