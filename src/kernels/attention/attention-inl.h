#pragma once

// Attention of one key/value head written once for every ISA and storage: passes of query rows over
// the blocks of the cache. The order of operations is docs/attention.md's.

#include <cstddef>
#include <cstring>

#include "kernels/attention/attention.h"
#include "kernels/attention/product-inl.h"
#include "kernels/attention/rotation-inl.h"
#include "kernels/attention/scratch.h"
#include "kernels/attention/softmax-inl.h"
#include "kernels/attention/sources-inl.h"

namespace tandem::kernels::attention {

/// T: the ISA's Tiling, its vector type V and the size of its register tiles. Cache: the source
/// that reads the cache's storage.
template <class T, class Cache>
class Pass {
  using Wide = F32Source<T>;
  using Element = typename Cache::Element;
  using V = typename T::V;
  static constexpr size_t kRows = T::kTileRows;
  static_assert(kRows <= kMaxTileRows);

 public:
  explicit Pass(const AttentionArgs& args)
      : args_(args),
        group_(args.n_heads / args.kv.n_kv_heads),
        value_padded_(round_up(args.kv.value_size, 16)),
        at_(ScratchLayout::make(group_, args.kv.key_size, args.kv.value_size)),
        scratch_(reinterpret_cast<float*>(args.scratch)) {}

  /// Computes the tokens [begin, end), at most pass_tokens(group) of them.
  void run(size_t begin, size_t end) {
    token_begin_ = begin;
    n_rows_ = (end - begin) * group_;
    reset();
    load_queries();
    const size_t first = first_seen(position(0)), last = position(n_rows_ - 1);
    // Few rows read each vector once or twice: widening it first would only cost a trip to memory.
    const bool direct = n_rows_ <= 2 * kRows && value_padded_ == args_.kv.value_size;
    for (size_t base = first / kBlock * kBlock; base <= last; base += kBlock) {
      const Span span = seen(first, last, base);
      if (direct) {
        attend(base, cached_keys(base), cached_values(base));
      } else {
        attend(base, widen_keys(base, span), widen_values(base, span));
      }
    }
    store_outputs();
  }

 private:
  size_t position(size_t row) const { return args_.first_position + token_begin_ + row / group_; }
  size_t first_seen(size_t position) const {
    if (args_.window == 0 || position < args_.window) return 0;
    return position - args_.window + 1;
  }
  /// The part of the block at `base` within the positions [first, last].
  static Span seen(size_t first, size_t last, size_t base) {
    const size_t end = last + 1 - base;
    return {first > base ? first - base : 0, end < kBlock ? end : kBlock};
  }

  void reset() {
    const V zero = V::zero();
    float* sums = scratch_ + at_.sums;
    for (size_t i = 0; i < n_rows_ * value_padded_; i += 16) zero.store(sums + i);
    float* totals = scratch_ + at_.totals;
    for (size_t i = 0; i < n_rows_ * 16; i += 16) zero.store(totals + i);
    for (size_t i = 0; i < n_rows_; ++i) scratch_[at_.maxima + i] = -__builtin_inff();
  }

  const float* query(size_t row) const {
    const size_t token = token_begin_ + row / group_;
    const size_t head = args_.kv_head * group_ + row % group_;
    const char* bytes = reinterpret_cast<const char*>(args_.q) + token * args_.q_stride;
    return reinterpret_cast<const float*>(bytes) + head * args_.kv.key_size;
  }

  /// Packs the queries as (tile, key_size, tile rows), so that a step over d reads one line.
  void load_queries() {
    const size_t key_size = args_.kv.key_size;
    for (size_t row = 0; row < n_rows_; ++row) {
      const float* from = Cache::kScaled ? rotated_query(row) : query(row);
      float* to = queries(row / kRows * kRows) + row % kRows;
      for (size_t d = 0; d < key_size; ++d) to[d * kRows] = from[d];
    }
  }
  /// Rotated as the keys are, in the place of the widened keys: these come later.
  const float* rotated_query(size_t row) const {
    const size_t key_size = args_.kv.key_size, block = rotation_size<T>(key_size);
    float* rotated = scratch_ + at_.keys;
    std::memcpy(rotated, query(row), key_size * sizeof(float));
    for (size_t d = 0; d < key_size; d += block) rotate<T>(rotated + d, block);
    return rotated;
  }
  float* queries(size_t tile_row) const {
    return scratch_ + at_.queries + tile_row * args_.kv.key_size;
  }

  const Element* keys_at(size_t base) const {
    return Cache::keys(args_.kv) + (args_.kv_head * args_.kv.capacity + base) * args_.kv.key_size;
  }
  const Element* values_at(size_t base) const {
    return Cache::values(args_.kv) +
           (args_.kv_head * args_.kv.capacity + base) * args_.kv.value_size;
  }
  /// The scales of the block at `base`; null where the storage has none.
  const float* scales_at(const float* scales, size_t base) const {
    return Cache::kScaled ? scales + args_.kv_head * args_.kv.capacity + base : nullptr;
  }
  RightView<Cache> cached_keys(size_t base) const {
    return {keys_at(base), kKeyTile, kKeyTile * args_.kv.key_size, kBlock * args_.kv.key_size};
  }
  RightView<Cache> cached_values(size_t base) const {
    return {values_at(base), args_.kv.value_size, 16, kBlock * args_.kv.value_size};
  }

  RightView<Wide> widen_keys(size_t base, Span span) const {
    const size_t tile = kKeyTile * args_.kv.key_size;
    const size_t begin = span.begin / kKeyTile * tile;
    const size_t end = round_up(span.end, kKeyTile) / kKeyTile * tile;
    float* to = scratch_ + at_.keys;
    widen<Cache>(keys_at(base) + begin, end - begin, to + begin);
    return {to, kKeyTile, tile, 0};
  }
  RightView<Wide> widen_values(size_t base, Span span) const {
    const size_t size = args_.kv.value_size;
    const Element* from = values_at(base);
    float* to = scratch_ + at_.values;
    if (size == value_padded_) {
      widen<Cache>(from + span.begin * size, (span.end - span.begin) * size,
                   to + span.begin * size);
      return {to, size, 16, 0};
    }
    for (size_t p = span.begin; p < span.end; ++p) {
      widen<Cache>(from + p * size, size, to + p * value_padded_);
    }
    return {to, value_padded_, 16, 0};
  }

  /// Gives the block at `base` to every tile with rows that see it.
  template <class Source>
  void attend(size_t base, RightView<Source> keys, RightView<Source> values) {
    for (size_t tile = 0; tile < n_rows_; tile += kRows) {
      const size_t end = tile + kRows < n_rows_ ? tile + kRows : n_rows_;
      Span spans[kRows];
      size_t first = tile, count = 0;
      for (size_t row = tile; row < end; ++row) {
        const size_t at = position(row), from = first_seen(at);
        if (at < base) ++first;
        if (at < base || from >= base + kBlock) continue;
        spans[count++] = seen(from, at, base);
      }
      if (count > 0) attend_tile(base, first, spans, count, keys, values);
    }
  }

  /// HOT: attention_bench. Rows [row, row + count) of one tile take in one block.
  template <class Source>
  void attend_tile(size_t base, size_t row, const Span* spans, size_t count, RightView<Source> keys,
                   RightView<Source> values) {
    float* weights = scratch_ + at_.weights;
    const Gathered rows{scratch_ + at_.maxima + row, scratch_ + at_.totals + row * 16,
                        scratch_ + at_.sums + row * value_padded_, value_padded_};
    // Positions only grow from row to row, so the outer rows bound what the tile sees.
    const Span columns{spans[0].begin / 16 * 16, round_up(spans[count - 1].end, 16)};
    const LeftView<1, kRows> q{queries(row / kRows * kRows) + row % kRows};
    keys.data += columns.begin / 16 * keys.chunk;
    multiply<T, Start::kFromZero>(count, q, keys, args_.kv.key_size,
                                  (columns.end - columns.begin) / 16, weights + columns.begin,
                                  kBlock);
    const ScoreRule rule{args_.scale, args_.softcap, scales_at(args_.kv.key_scales, base)};
    const float* value_scales = scales_at(args_.kv.value_scales, base);
    float maxima[kRows];
    for (size_t r = 0; r < count; ++r) {
      const float best = finish_scores<V>(weights + r * kBlock, rule, columns, spans[r]);
      maxima[r] = best > rows.maxima[r] ? best : rows.maxima[r];
    }
    rescale<V>(rows, count, maxima);
    for (size_t r = 0; r < count; ++r) {
      weigh_scores<V>(weights + r * kBlock, columns, maxima[r], value_scales, rows.totals + r * 16);
    }
    add_values(rows, spans, count, values);
  }

  /// Adds the weighted values of each row's own positions, in order, and touches no others: what
  /// all rows see together, what only the earlier rows see before it, what the later ones see
  /// after.
  template <class Source>
  void add_values(const Gathered& rows, const Span* spans, size_t count,
                  RightView<Source> values) const {
    Span common{spans[count - 1].begin, spans[0].end};
    if (common.begin >= common.end) common = {kBlock, kBlock};
    for (size_t r = 0; r < count; ++r) {
      const size_t end = spans[r].end < common.begin ? spans[r].end : common.begin;
      add_values_of(rows, r, {spans[r].begin, end}, values);
    }
    if (common.begin == kBlock) return;
    const LeftView<kBlock, 1> weights{scratch_ + at_.weights + common.begin};
    const RightView<Source> from{values.data + common.begin * values.step, values.step,
                                 values.chunk, values.next};
    multiply<T, Start::kFromOut>(count, weights, from, common.end - common.begin,
                                 value_padded_ / 16, rows.sums, value_padded_);
    for (size_t r = 0; r < count; ++r) add_values_of(rows, r, {common.end, spans[r].end}, values);
  }
  template <class Source>
  void add_values_of(const Gathered& rows, size_t r, Span span, RightView<Source> values) const {
    if (span.begin >= span.end) return;
    const LeftView<kBlock, 1> weights{scratch_ + at_.weights + r * kBlock + span.begin};
    values.data += span.begin * values.step;
    multiply_chunks<Start::kFromOut, Source, 1, T::chunks(1)>(
        weights, values, span.end - span.begin, value_padded_ / 16, rows.sums + r * value_padded_,
        value_padded_);
  }

  void store_outputs() const {
    const size_t size = args_.kv.value_size;
    for (size_t row = 0; row < n_rows_; ++row) {
      const size_t token = token_begin_ + row / group_;
      const size_t head = args_.kv_head * group_ + row % group_;
      char* bytes = reinterpret_cast<char*>(args_.out) + token * args_.out_stride;
      float* out = reinterpret_cast<float*>(bytes) + head * size;
      const float* sums = scratch_ + at_.sums + row * value_padded_;
      const V total = V::set1(V::reduce_add(V::load(scratch_ + at_.totals + row * 16)));
      for (size_t i = 0; i < size; i += 16) {
        const V mean = V::load(sums + i) / total;
        mean.store_partial(out + i, static_cast<int>(size - i < 16 ? size - i : 16));
      }
    }
  }

  const AttentionArgs& args_;
  const size_t group_;
  const size_t value_padded_;
  const ScratchLayout at_;
  float* const scratch_;
  size_t token_begin_ = 0;
  size_t n_rows_ = 0;
};

template <class T, class Cache>
[[gnu::always_inline]] inline void run_attention(const AttentionArgs& args) {
  const size_t step = pass_tokens(args.n_heads / args.kv.n_kv_heads);
  Pass<T, Cache> pass(args);
  for (size_t token = args.row_begin; token < args.row_end; token += step) {
    pass.run(token, token + step < args.row_end ? token + step : args.row_end);
  }
}

}  // namespace tandem::kernels::attention
