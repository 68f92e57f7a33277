// The processor of a SoC profile: this machine's results, the profile's costs.

#include "device/forwarding_device.h"
#include "device/npu_sim/node_types.h"
#include "device/npu_sim/npu_sim_device.h"
#include "graph/node_work.h"
#include "soc/cost.h"

namespace tandem {
namespace {

class SocCpuDevice : public ForwardingDevice {
 public:
  SocCpuDevice(std::shared_ptr<const soc::SocProfile> profile, std::unique_ptr<Device> cpu)
      : ForwardingDevice(std::move(cpu)),
        profile_(std::move(profile)),
        capabilities_(inner().describe()) {
    capabilities_.description = profile_->title + ", its processor";
    capabilities_.simulated = true;
    capabilities_.soc = profile_->name;
    capabilities_.knows_energy = true;
    capabilities_.memory_bytes_per_second = profile_->dram.usable_bytes_per_s;
  }

  const Capabilities& describe() const override { return capabilities_; }

  Estimate estimate(const Graph& graph, NodeRange segment, const StepLoad& load) const override {
    std::vector<soc::Work> list;
    Estimate out;
    for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
      const Node& node = graph.nodes[i];
      list.push_back(soc::work_of(graph, node, load.n_tokens, load.context, types_of(graph, node)));
      out.macs += count_work(graph, node, load.n_tokens, load.context).macs;
    }
    if (list.empty()) return out;
    const soc::SegmentCost cost =
        soc::cpu_cost(*profile_, list, {.with_spans = load.spans != nullptr});
    for (const soc::Span& span : cost.spans) {
      for (const soc::CpuCluster& cluster : profile_->cpu.clusters) {
        // All clusters work on a node together; its bytes are shown once.
        const bool is_first = &cluster == &profile_->cpu.clusters.front();
        load.spans->push_back({cluster.name, segment.first + span.work, span.start_s, span.end_s,
                               is_first ? span.bytes : 0});
      }
    }
    out.seconds = cost.seconds;
    out.launch_seconds = cost.launch_s;
    out.bytes = cost.read_bytes + cost.written_bytes;
    out.joules = cost.energy.device();
    return out;
  }

 private:
  /// The processor's own arithmetic: int8 for quantized weights, else floats.
  static soc::WorkTypes types_of(const Graph& graph, const Node& node) {
    soc::WorkTypes types{.activations = soc::NumericType::kFp32,
                         .weights = soc::NumericType::kFp32};
    const auto* linear = std::get_if<LinearAttributes>(&node.attributes);
    if (linear == nullptr) return types;
    const DType type = graph.weights[linear->weight].type;
    types.weights = numeric_type_of(type).value_or(soc::NumericType::kInt8);
    const bool is_float = !soc::is_integer(types.weights);
    types.activations = is_float ? types.weights : soc::NumericType::kInt8;
    if (own_arithmetic(graph.weights[linear->weight]) == LinearArithmetic::kInt16Rows) {
      types.activations = soc::NumericType::kInt16;
    }
    return types;
  }

  std::shared_ptr<const soc::SocProfile> profile_;
  Capabilities capabilities_;
};

}  // namespace

std::unique_ptr<Device> make_soc_cpu(std::shared_ptr<const soc::SocProfile> profile,
                                     std::unique_ptr<Device> cpu) {
  return std::make_unique<SocCpuDevice>(std::move(profile), std::move(cpu));
}

std::vector<std::unique_ptr<Device>> make_soc_devices(
    std::shared_ptr<const soc::SocProfile> profile, std::unique_ptr<Device> cpu,
    const NpuSimOptions& options) {
  std::vector<std::unique_ptr<Device>> out;
  for (size_t i = 0; i < profile->npus.size(); ++i) {
    out.push_back(make_npu_sim(profile, i, *cpu, options));
  }
  out.push_back(make_soc_cpu(std::move(profile), std::move(cpu)));
  return out;
}

}  // namespace tandem
