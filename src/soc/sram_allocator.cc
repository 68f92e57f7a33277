// First fit over a map of holes.

#include "soc/sram_allocator.h"

#include <algorithm>

#include "base/check.h"

namespace tandem::soc {

SramAllocator::SramAllocator(uint64_t bytes) : capacity_(bytes / kAlignment * kAlignment) {
  if (capacity_ > 0) holes_[0] = capacity_;
}

std::optional<uint64_t> SramAllocator::allocate(uint64_t bytes) {
  if (bytes > capacity_) return std::nullopt;
  const uint64_t size = std::max<uint64_t>((bytes + kAlignment - 1) / kAlignment, 1) * kAlignment;
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->second < size) continue;
    const uint64_t offset = hole->first;
    const uint64_t rest = hole->second - size;
    holes_.erase(hole);
    if (rest > 0) holes_[offset + size] = rest;
    buffers_[offset] = size;
    used_ += size;
    return offset;
  }
  return std::nullopt;
}

void SramAllocator::release(uint64_t offset) {
  const auto buffer = buffers_.find(offset);
  TANDEM_CHECK(buffer != buffers_.end());
  uint64_t size = buffer->second;
  used_ -= size;
  buffers_.erase(buffer);
  const auto after = holes_.find(offset + size);
  if (after != holes_.end()) {
    size += after->second;
    holes_.erase(after);
  }
  const auto next = holes_.lower_bound(offset);
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  holes_[offset] = size;
}

uint64_t SramAllocator::largest_hole() const {
  uint64_t out = 0;
  for (const auto& [offset, bytes] : holes_) out = std::max(out, bytes);
  return out;
}

}  // namespace tandem::soc
