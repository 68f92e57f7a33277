// Roofline of the CPU's clusters.

#include <algorithm>

#include "soc/cost.h"
#include "soc/event_clock.h"

namespace tandem::soc {
namespace {

/// Of a computing core's watts, drawn while it waits for memory.
constexpr double kStalledPower = 0.6;
constexpr double kVectorLanes = 8;  ///< f32 lanes a core handles in a cycle: two 128-bit pipes

struct CpuRates {
  double macs_per_s = 0;
  double elements_per_s = 0;
  double watts = 0;
};

CpuRates rates_for(const CpuProfile& cpu, NumericType activations, double clock_scale) {
  CpuRates out;
  for (const CpuCluster& cluster : cpu.clusters) {
    auto macs = find(cluster.macs_per_cycle, activations);
    if (!macs) macs = find(cluster.macs_per_cycle, NumericType::kFp32);
    const double cycles = cluster.cores * cluster.clock_hz * clock_scale;
    out.macs_per_s += macs.value_or(kVectorLanes / 2) * cycles * cpu.mac_efficiency;
    out.elements_per_s += kVectorLanes * cycles * cpu.mac_efficiency;
    out.watts += cluster.cores * cluster.watts_per_core;
  }
  return out;
}

double bandwidth(const SocProfile& soc, double others) {
  double clusters = 0;
  for (const CpuCluster& cluster : soc.cpu.clusters) clusters += cluster.max_bytes_per_s;
  const double left =
      std::max(soc.dram.usable_bytes_per_s - others, soc.dram.usable_bytes_per_s / 8);
  return std::min({clusters, soc.cpu.max_bytes_per_s, left});
}

}  // namespace

SegmentCost cpu_cost(const SocProfile& soc, std::span<const Work> list,
                     const Conditions& conditions) {
  SegmentCost out;
  EventClock clock(conditions.with_spans);
  const double bytes_per_s = bandwidth(soc, conditions.other_bytes_per_s);
  for (uint32_t i = 0; i < list.size(); ++i) {
    const Work& work = list[i];
    // Attention runs on floats whatever the linears use.
    const NumericType type = work.op == Op::kAttention ? NumericType::kFp16 : work.activations;
    const CpuRates rates = rates_for(soc.cpu, type, conditions.clock_scale);
    const uint64_t macs = macs_of(work);
    const uint64_t read = work.weight_bytes + work.state_bytes;
    const double compute =
        double(macs) / rates.macs_per_s + vector_ops_of(work) / rates.elements_per_s;
    const double moving = double(read + work.written_bytes) / bytes_per_s;
    clock.issue({.lane = Lane::kCpu,
                 .work = i,
                 .seconds = std::max(compute, moving) + soc.cpu.node_overhead_s,
                 .bytes = read + work.written_bytes},
                {});
    out.macs += macs;
    out.read_bytes += read;
    out.written_bytes += work.written_bytes;
    out.energy.compute += double(macs) * soc.cpu.joules_per_mac;
    const double stalled = std::max(moving - compute, 0.0) + soc.cpu.node_overhead_s;
    out.energy.unit += rates.watts * (compute + kStalledPower * stalled);
  }
  out.seconds = clock.now();
  out.busy_s[static_cast<size_t>(Lane::kCpu)] = clock.busy(Lane::kCpu);
  out.energy.dram = double(out.read_bytes + out.written_bytes) * soc.dram.joules_per_byte;
  out.energy.board = soc.board_watts * out.seconds;
  out.spans = clock.take_spans();
  return out;
}

}  // namespace tandem::soc
