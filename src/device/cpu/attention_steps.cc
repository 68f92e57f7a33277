#include "device/cpu/attention_steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tandem {
namespace {

// Query rows of one task: long enough to reuse a block of keys, short enough to share among
// threads.
constexpr size_t kRowsPerTask = 32;
// Rows of keys and values that one task stores.
constexpr size_t kRowsPerWrite = 64;

}  // namespace

void RotationsStep::run(const StepContext& c) const {
  const std::span<uint32_t> positions = c.scratch.positions();
  for (const SequenceRows& s : c.bindings.sequences) {
    for (uint32_t r = 0; r < s.n_rows; ++r) positions[s.first_row + r] = s.first_position + r;
  }
  for (RopeTableId id = 0; id < c.graph.rope_tables.size(); ++id) {
    const RopeTable& table = c.graph.rope_tables[id];
    const size_t n_pairs = table.inverse_frequencies.size();
    c.pool.parallel_for(c.bindings.tokens.size(), 16, [&](size_t begin, size_t end, int) {
      for (size_t i = begin * n_pairs; i < end * n_pairs; ++i) {
        // In double: at position 100,000 a float angle would be off by 0.004.
        const double angle =
            static_cast<double>(positions[i / n_pairs]) * table.inverse_frequencies[i % n_pairs];
        c.scratch.cosines(id)[i] = static_cast<float>(std::cos(angle)) * table.magnitude;
        c.scratch.sines(id)[i] = static_cast<float>(std::sin(angle)) * table.magnitude;
      }
    });
  }
}

void RopeStep::run(const StepContext& c) const {
  const size_t n_pairs = c.graph.rope_tables[attributes_.table].inverse_frequencies.size();
  const size_t width = c.width(output_);
  const float* input = c.value(input_);
  float* output = c.value(output_);
  const float* cosines = c.scratch.cosines(attributes_.table);
  const float* sines = c.scratch.sines(attributes_.table);
  c.pool.parallel_for(c.n_rows(output_), 8, [&](size_t begin, size_t end, int) {
    if (input != output) {
      std::memcpy(output + begin * width, input + begin * width,
                  (end - begin) * width * sizeof(float));
    }
    for (size_t row = begin; row < end; ++row) {
      kernels_.rope.run({.x = output + row * width,
                         .cos = cosines + row * n_pairs,
                         .sin = sines + row * n_pairs,
                         .n_heads = attributes_.n_heads,
                         .head_size = attributes_.head_size,
                         .n_rotated = 2 * n_pairs,
                         .pairs = attributes_.pairs});
    }
  });
}

void KvWriteStep::run(const StepContext& c) const {
  const KvState& state = std::get<KvState>(c.graph.states[state_]);
  for (const SequenceRows& s : c.bindings.sequences) {
    c.pool.parallel_for(s.n_rows, kRowsPerWrite, [&](size_t begin, size_t end, int) {
      const size_t row = s.first_row + begin;
      kernels_.attention(state.storage)
          .write({.k = c.value(k_) + row * c.width(k_),
                  .v = c.value(v_) + row * c.width(v_),
                  .k_stride = c.row_bytes(k_),
                  .v_stride = c.row_bytes(v_),
                  .n_rows = end - begin,
                  .first_position = s.first_position + begin,
                  .kv = s.state->kv(state_)});
    });
  }
}

void AttentionStep::run(const StepContext& c) const {
  for (const SequenceRows& s : c.bindings.sequences) run_sequence(c, s);
}

void AttentionStep::run_sequence(const StepContext& c, const SequenceRows& s) const {
  const KvState& state = std::get<KvState>(c.graph.states[attributes_.state]);
  const kernels::AttentionArgs all{.q = c.value(q_) + s.first_row * c.width(q_),
                                   .out = c.value(output_) + s.first_row * c.width(output_),
                                   .q_stride = c.row_bytes(q_),
                                   .out_stride = c.row_bytes(output_),
                                   .first_position = s.first_position,
                                   .row_begin = 0,
                                   .row_end = 0,
                                   .kv_head = 0,
                                   .n_heads = attributes_.n_heads,
                                   .window = state.window,
                                   .scale = attributes_.scale,
                                   .softcap = attributes_.softcap,
                                   .kv = s.state->kv(attributes_.state),
                                   .scratch = nullptr};
  const size_t n_blocks = (s.n_rows + kRowsPerTask - 1) / kRowsPerTask;
  // Later rows see more keys: hand the long tasks out first so that none is left for the end.
  c.pool.parallel_for(n_blocks * state.n_kv_heads, 1, [&](size_t task, size_t, int thread) {
    const size_t block = n_blocks - 1 - task / state.n_kv_heads;
    kernels::AttentionArgs part = all;
    part.kv_head = task % state.n_kv_heads;
    part.row_begin = block * kRowsPerTask;
    part.row_end = std::min<size_t>(part.row_begin + kRowsPerTask, s.n_rows);
    part.scratch = c.scratch.attention(thread);
    kernels_.attention(state.storage).run(part);
  });
}

}  // namespace tandem
