#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "soc/profile.h"
#include "soc/work.h"

/// What a list of nodes costs on a unit of a SoC: simulated time, bytes and energy. Pure functions,
/// thread safe; nothing here reads a clock. Everything returned is simulated and has to be shown as
/// such.
namespace tandem::soc {

/// Where a command of the simulated machine runs.
enum class Lane : uint8_t { kHost, kDmaIn, kArray, kVector, kDmaOut, kCpu };
const char* to_string(Lane lane);
inline constexpr int kLanes = 6;

/// One command: seconds from the segment's start.
struct Span {
  Lane lane;
  uint32_t work;  ///< index into the work list; the list's size for launch and wake
  double start_s;
  double end_s;
  uint64_t bytes;  ///< moved between DRAM and the unit
};

/// Joules by consumer.
struct Energy {
  double compute = 0;  ///< array, vector unit, SIMD
  double sram = 0;
  double dram = 0;
  double unit = 0;   ///< static power of the unit over the time
  double host = 0;   ///< one core of the first cluster while it launches and wakes the unit
  double board = 0;  ///< the rest of the device over the time

  /// A whole device, as a battery sees it.
  double device() const { return compute + sram + dram + unit + host + board; }
  /// The rails of the unit and the CPU, without DRAM and board.
  double rails() const { return compute + sram + unit + host; }
};

struct SegmentCost {
  double seconds = 0;
  double launch_s = 0;      ///< part of `seconds`: launches and wake
  uint64_t read_bytes = 0;  ///< DRAM to the unit
  uint64_t written_bytes = 0;
  uint64_t macs = 0;
  uint64_t array_cycles = 0;  ///< of the busiest array, folds' fill and drain included
  uint64_t input_reads = 0;   ///< SRAM accesses of the array, in elements
  uint64_t filter_reads = 0;
  uint64_t output_writes = 0;
  double busy_s[kLanes] = {};
  Energy energy;
  std::vector<Span> spans;  ///< only with Conditions::with_spans; sorted by start
};

struct Conditions {
  double launches = 1;           ///< times the host starts the unit
  double other_bytes_per_s = 0;  ///< DRAM bandwidth other units draw meanwhile
  size_t power_state = 0;        ///< among the unit's active states
  double wake_s = 0;             ///< the unit wakes first (PowerStateProfile::wake_s)
  double clock_scale = 1;        ///< thermal: 1 when cool
  bool inputs_in_dram = true;    ///< the first node's inputs come from DRAM
  bool outputs_to_dram = true;   ///< the last node's outputs go there
  bool with_spans = false;
};

/// Runs the list on an NPU as a stream of DMA, array and vector commands over an event clock.
SegmentCost npu_cost(const SocProfile& soc, const NpuProfile& npu, std::span<const Work> list,
                     const Conditions& conditions);

/// Runs the list on all clusters: each node takes the longer of its arithmetic and its bytes.
SegmentCost cpu_cost(const SocProfile& soc, std::span<const Work> list,
                     const Conditions& conditions);

/// Marks the weights that stay in the NPU's SRAM between steps: those that fit beside the buffers
/// the list needs, in list order. Returns the bytes kept.
uint64_t plan_residency(const NpuProfile& npu, std::span<Work> list);

/// Seconds to compile a graph of so many nodes.
double compile_seconds(const NpuProfile& npu, size_t n_nodes);

/// Divides DRAM's usable bandwidth over units that want at most `caps` each: equal shares, and
/// what one does not want goes to the others. Returns bytes per second by unit.
std::vector<double> share_bandwidth(const DramProfile& dram, std::span<const double> caps);

}  // namespace tandem::soc
