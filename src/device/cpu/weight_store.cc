#include "device/cpu/weight_store.h"

#include <algorithm>

#include "tensor/convert.h"

namespace tandem {
namespace {

// Rows per task: enough work to hide the hand-out, few enough that the file's pages can be dropped
// soon after they were read.
constexpr size_t kRowsPerTask = 64;

Result<std::shared_ptr<const PackedWeight>> pack(const Weight& weight, ThreadPool& pool) {
  auto out = std::make_shared<PackedWeight>();
  const size_t n_bytes = kernels::packed_bytes(weight.type, weight.rows, weight.columns);
  TANDEM_TRY(out->memory, Buffer::allocate(n_bytes, weight.name.c_str()));
  const size_t n_tasks = (weight.rows + kRowsPerTask - 1) / kRowsPerTask;
  const size_t stride = row_bytes(weight.type, weight.columns);
  pool.parallel_for(n_tasks, 1, [&](size_t begin, size_t end, int) {
    const size_t first = begin * kRowsPerTask;
    const size_t last = std::min<size_t>(end * kRowsPerTask, weight.rows);
    kernels::pack_rows(weight.type, weight.bytes.data(), weight.rows, weight.columns, first, last,
                       out->memory.data());
    if (weight.file) {
      weight.file->drop_pages(weight.bytes.subspan(first * stride, (last - first) * stride));
    }
  });
  out->matrix = {weight.type, weight.rows, weight.columns, out->memory.data()};
  return out;
}

}  // namespace

Result<std::shared_ptr<const PackedWeight>> WeightStore::packed(const Weight& weight,
                                                                ThreadPool& pool) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const PackedWeight>& slot =
      packed_[{weight.bytes.data(), weight.rows, weight.columns}];
  if (auto known = slot.lock()) return known;
  TANDEM_TRY(auto made, pack(weight, pool));
  slot = made;
  return made;
}

std::vector<float> decode_vector(const Weight& weight) {
  std::vector<float> out(weight.columns);
  decode_row(weight.type, weight.bytes.data(), out.data(), out.size());
  return out;
}

}  // namespace tandem
