#include "device/cpu/weight_store.h"

#include <algorithm>
#include <functional>

#include "device/cpu/packed_weight_key.h"
#include "kernels/linear/nested.h"
#include "tensor/convert.h"
#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

// Rows per task: enough work to hide the hand-out, few enough that the file's pages can be dropped
// soon after they were read.
constexpr size_t kRowsPerTask = 64;
// Address space of a piece; pages are touched only as they fill.
constexpr size_t kPieceBytes = size_t{64} << 20;
constexpr size_t kAlignment = 64;

/// Packs the rows of a low plane that belong to `weight`.
Result<void> pack_low(const Weight& weight, ThreadPool& pool, PackedWeight& out) {
  const NestedTensor& nested = *weight.nested;
  const size_t stride = low_row_bytes(weight.columns);
  const auto rows = nested.low.subspan(weight.first_nested_row * stride, weight.rows * stride);
  out.low_bytes = kernels::packed_low_bytes(weight.rows, weight.columns);
  TANDEM_TRY(Buffer memory,
             Buffer::allocate(out.low_bytes, weight.name.c_str(), BufferUse::kWhole));
  std::byte* const low = memory.data();
  const size_t n_tasks = (weight.rows + kRowsPerTask - 1) / kRowsPerTask;
  pool.parallel_for(n_tasks, 1, [&](size_t begin, size_t end, int) {
    const size_t first = begin * kRowsPerTask;
    const size_t last = std::min<size_t>(end * kRowsPerTask, weight.rows);
    kernels::pack_low_rows(rows.data(), weight.rows, weight.columns, first, last, low);
    nested.low_file->drop_pages(rows.subspan(first * stride, (last - first) * stride));
  });
  out.low_memory = std::make_shared<const Buffer>(std::move(memory));
  out.matrix.low = low;
  out.matrix.low_shift = nested.shift;
  return {};
}

void pack_rows(const Weight& weight, std::byte* to, ThreadPool& pool) {
  const size_t n_tasks = (weight.rows + kRowsPerTask - 1) / kRowsPerTask;
  const size_t stride = row_bytes(weight.type, weight.columns);
  pool.parallel_for(n_tasks, 1, [&](size_t begin, size_t end, int) {
    const size_t first = begin * kRowsPerTask;
    const size_t last = std::min<size_t>(end * kRowsPerTask, weight.rows);
    kernels::pack_rows(weight.type, weight.bytes.data(), weight.rows, weight.columns, first, last,
                       to);
    if (weight.file) {
      weight.file->drop_pages(weight.bytes.subspan(first * stride, (last - first) * stride));
    }
  });
}

}  // namespace

Result<std::shared_ptr<const PackedWeight>> WeightStore::packed(const Weight& weight,
                                                                ThreadPool& pool) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const PackedWeight>& slot =
      packed_[{weight.bytes.data(), weight.rows, weight.columns, weight.type}];
  if (auto known = slot.lock()) return known;
  if (auto rows = find_rows(weight)) {
    slot = rows;
    return rows;
  }
  TANDEM_TRY(auto made, make(weight, pool));
  slot = made;
  return made;
}

std::shared_ptr<const PackedWeight> WeightStore::find_rows(const Weight& weight) const {
  if (weight.nested) return nullptr;
  const size_t stride = row_bytes(weight.type, weight.columns);
  for (const auto& [key, slot] : packed_) {
    const auto& [bytes, rows, columns, type] = key;
    const std::less_equal<const std::byte*> is_before;
    const bool is_inside =
        columns == weight.columns && type == weight.type && is_before(bytes, weight.bytes.data()) &&
        is_before(weight.bytes.data() + weight.bytes.size(), bytes + rows * stride);
    const auto whole = is_inside ? slot.lock() : nullptr;
    if (whole == nullptr || whole->low_bytes > 0) continue;
    const size_t first = static_cast<size_t>(weight.bytes.data() - bytes) / stride;
    const bool ends_with_a_tile =
        weight.rows % kernels::kTileRows == 0 || first + weight.rows == rows;
    if (first % kernels::kTileRows != 0 || !ends_with_a_tile) continue;
    auto out = std::make_shared<PackedWeight>();
    out->memory = whole->memory;
    out->memory_bytes = kernels::packed_bytes(weight.type, weight.rows, weight.columns);
    out->matrix = {weight.type, weight.rows, weight.columns,
                   whole->matrix.data + kernels::packed_bytes(weight.type, first, weight.columns)};
    return out;
  }
  return nullptr;
}

Result<std::shared_ptr<const PackedWeight>> WeightStore::packed_as(const Weight& weight, DType type,
                                                                   ThreadPool& pool) {
  if (weight.type == type) return packed(weight, pool);
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const PackedWeight>& slot =
      packed_[{weight.bytes.data(), weight.rows, weight.columns, type}];
  if (auto known = slot.lock()) return known;
  Weight other = weight;
  other.type = type;
  other.file = nullptr;
  TANDEM_TRY(Buffer rows,
             Buffer::allocate(row_bytes(type, weight.columns) * weight.rows, weight.name.c_str()));
  const size_t from = row_bytes(weight.type, weight.columns), to = row_bytes(type, weight.columns);
  pool.parallel_for(weight.rows, kRowsPerTask, [&](size_t begin, size_t end, int) {
    std::vector<float> row(weight.columns);
    for (size_t r = begin; r < end; ++r) {
      decode_row(weight.type, weight.bytes.data() + r * from, row.data(), row.size());
      encode_row(type, row.data(), rows.data() + r * to, row.size());
    }
  });
  other.bytes = rows.bytes();
  TANDEM_TRY(auto made, make(other, pool));
  slot = made;
  return made;
}

Result<std::shared_ptr<PackedWeight>> WeightStore::make(const Weight& weight, ThreadPool& pool) {
  const bool may_keep = on_disk_ && weight.file && weight.file->modified_ns() != 0;
  if (!may_keep) return pack(weight, pool);
  if (auto found = find_on_disk(weight, pool)) return found;
  TANDEM_TRY(auto made, pack(weight, pool));
  keep_on_disk(weight, *made, pool);
  return made;
}

std::shared_ptr<PackedWeight> WeightStore::find_on_disk(const Weight& weight,
                                                        ThreadPool& pool) const {
  auto out = std::make_shared<PackedWeight>();
  out->memory_bytes = kernels::packed_bytes(weight.type, weight.rows, weight.columns);
  const auto found = on_disk_->find(packed_key(weight, WeightPlane::kHigh), &pool).entry;
  if (!found || found->code.size() != out->memory_bytes) return nullptr;
  out->memory = found->file;
  out->matrix = {weight.type, weight.rows, weight.columns, found->code.data()};
  if (!weight.nested) return out;
  out->low_bytes = kernels::packed_low_bytes(weight.rows, weight.columns);
  const auto low = on_disk_->find(packed_key(weight, WeightPlane::kLow), &pool).entry;
  if (!low || low->code.size() != out->low_bytes) return nullptr;
  out->low_memory = low->file;
  out->matrix.low = low->code.data();
  out->matrix.low_shift = weight.nested->shift;
  return out;
}

void WeightStore::keep_on_disk(const Weight& weight, const PackedWeight& packed,
                               ThreadPool& pool) const {
  on_disk_->keep(packed_key(weight, WeightPlane::kHigh), {packed.matrix.data, packed.memory_bytes},
                 &pool);
  if (!weight.nested) return;
  on_disk_->keep(packed_key(weight, WeightPlane::kLow), {packed.matrix.low, packed.low_bytes},
                 &pool);
}

Result<std::shared_ptr<PackedWeight>> WeightStore::pack(const Weight& weight, ThreadPool& pool) {
  // Before the pages of the high plane are dropped.
  if (weight.nested) TANDEM_TRY(verify_nested(*weight.nested, pool));
  auto made = std::make_shared<PackedWeight>();
  made->memory_bytes = kernels::packed_bytes(weight.type, weight.rows, weight.columns);
  TANDEM_TRY(std::byte* const start, take(made->memory_bytes, weight.name.c_str()));
  made->memory = piece_;
  pack_rows(weight, start, pool);
  made->matrix = {weight.type, weight.rows, weight.columns, start};
  if (weight.nested) TANDEM_TRY(pack_low(weight, pool, *made));
  return made;
}

Result<std::byte*> WeightStore::take(size_t n_bytes, const char* name) {
  const size_t begin = (used_ + kAlignment - 1) / kAlignment * kAlignment;
  if (piece_ == nullptr || begin > piece_->size() || n_bytes > piece_->size() - begin) {
    TANDEM_TRY(Buffer piece,
               Buffer::allocate(std::max(n_bytes, kPieceBytes), name, BufferUse::kWhole));
    piece_ = std::make_shared<Buffer>(std::move(piece));
    used_ = 0;
    return take(n_bytes, name);
  }
  used_ = begin + n_bytes;
  return piece_->data() + begin;
}

std::vector<float> decode_vector(const Weight& weight) {
  std::vector<float> out(weight.columns);
  decode_row(weight.type, weight.bytes.data(), out.data(), out.size());
  return out;
}

}  // namespace tandem
