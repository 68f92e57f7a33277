#pragma once

#include <span>

#include "soc/cost.h"
#include "soc/event_clock.h"
#include "soc/sram_allocator.h"
#include "soc/systolic_array.h"

namespace tandem::soc {

/// One simulated execution of a work list on an NPU: lowers nodes to commands and issues them on
/// an event clock.
///
/// SRAM holds the resident weights, two buffers through which other weights and the key/value cache
/// stream (one is filled while the other is read), and activations in what remains.
class NpuRun {
 public:
  NpuRun(const SocProfile& soc, const NpuProfile& npu, std::span<const Work> list,
         const Conditions& conditions);

  SegmentCost run();

 private:
  using Id = EventClock::CommandId;

  /// A tile's weights in a buffer, ready to be multiplied.
  struct Loaded {
    size_t buffer;
    Id ready;
  };
  /// The part of a node's product that one command computes.
  struct Tile {
    Product product;
    uint64_t bytes;  ///< of weights
    double share;    ///< of the node's outputs
  };
  /// Where a product runs fastest.
  struct Placement {
    Lane lane;
    double seconds;
    ArrayRun counts;
  };

  uint64_t choose_buffer_bytes() const;
  void place_buffers();
  void run_node(uint32_t index);
  void run_linear(uint32_t index, Id inputs);
  void run_attention(uint32_t index, Id inputs);
  void run_elements(uint32_t index, Id inputs);

  Id read(uint32_t index, uint64_t bytes, Id after);
  Id write(uint32_t index, uint64_t bytes, Id after);
  Id vector_ops(uint32_t index, double ops, std::initializer_list<Id> after);
  Id multiply(uint32_t index, const Placement& placement, std::initializer_list<Id> after);
  Loaded load(uint32_t index, uint64_t bytes, double weights_to_unpack, bool resident);

  uint64_t rows_at_once(const Work& work) const;
  std::vector<Tile> cut(const Work& work, uint64_t rows) const;
  Placement place(const Work& work, const Product& product, uint32_t instances,
                  NumericType weights) const;
  void add_energy(double seconds);

  const SocProfile& soc_;
  const NpuProfile& npu_;
  std::span<const Work> list_;
  Conditions conditions_;
  PowerStateProfile state_;
  double array_hz_;
  double vector_hz_;
  double bytes_per_s_;
  EventClock clock_;
  SramAllocator sram_;
  uint64_t buffer_bytes_ = 0;
  uint64_t activation_bytes_ = 0;
  std::array<Id, 2> buffer_user_{EventClock::kNone, EventClock::kNone};
  size_t next_buffer_ = 0;
  Id start_ = EventClock::kNone;
  Id last_ = EventClock::kNone;  ///< end of the node before
  bool spilled_ = false;         ///< the node before left its outputs in DRAM
  double sram_bytes_moved_ = 0;
  SegmentCost cost_;
};

}  // namespace tandem::soc
