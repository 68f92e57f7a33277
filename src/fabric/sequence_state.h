#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "fabric/shared_memory.h"
#include "graph/graph.h"
#include "kernels/attention/attention.h"

namespace tandem {

/// Who may map a sequence's memory.
enum class Sharing : uint8_t {
  kPrivate,    ///< this process
  kShareable,  ///< devices, by a file descriptor
};

/// Everything one sequence carries between steps: the key/value cache of each layer, in memory that
/// every device of this machine may map. Owned by a session; one step at a time writes to it.
class SequenceState {
 public:
  /// Room for `capacity` positions of every state of `graph`; pages are touched as they are
  /// written. Errors: kOutOfMemory with the size.
  static Result<SequenceState> create(const Graph& graph, uint32_t capacity,
                                      Sharing sharing = Sharing::kPrivate);

  /// Bytes that `create` reserves.
  static uint64_t bytes_needed(const Graph& graph, uint32_t capacity);

  uint32_t capacity() const { return capacity_; }
  const kernels::KvView& kv(StateId state) const { return views_[state]; }
  size_t n_states() const { return views_.size(); }
  uint64_t size_bytes() const { return memory_.size() + shared_.size(); }
  /// All of it, for devices to import.
  std::span<const std::byte> bytes() const {
    return shared_.size() > 0 ? shared_.bytes() : memory_.bytes();
  }

 private:
  Buffer memory_;  ///< one of the two holds everything
  SharedMemory shared_;
  uint32_t capacity_ = 0;
  std::vector<kernels::KvView> views_;
};

}  // namespace tandem
