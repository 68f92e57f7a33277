// What a work list costs on an NPU, and what planning needs to know about its SRAM and DRAM.

#include <algorithm>

#include "soc/cost.h"
#include "soc/npu_run.h"

namespace tandem::soc {

SegmentCost npu_cost(const SocProfile& soc, const NpuProfile& npu, std::span<const Work> list,
                     const Conditions& conditions) {
  return NpuRun(soc, npu, list, conditions).run();
}

uint64_t plan_residency(const NpuProfile& npu, std::span<Work> list) {
  // Half of SRAM stays free for streaming buffers and activations.
  const auto room = static_cast<uint64_t>(npu.sram_bytes / 2);
  uint64_t used = 0;
  for (Work& work : list) {
    work.resident = false;
    if (work.op != Op::kLinear || work.weight_bytes == 0) continue;
    if (used + work.weight_bytes > room) continue;
    used += work.weight_bytes;
    work.resident = true;
  }
  return used;
}

double compile_seconds(const NpuProfile& npu, size_t n_nodes) {
  return npu.compile_s + npu.compile_s_per_node * double(n_nodes);
}

std::vector<double> share_bandwidth(const DramProfile& dram, std::span<const double> caps) {
  std::vector<double> out(caps.size(), 0);
  std::vector<size_t> order(caps.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return caps[a] < caps[b]; });
  double left = dram.usable_bytes_per_s;
  for (size_t i = 0; i < order.size(); ++i) {
    const double fair = left / double(order.size() - i);
    out[order[i]] = std::min(std::max(caps[order[i]], 0.0), fair);
    left -= out[order[i]];
  }
  return out;
}

}  // namespace tandem::soc
