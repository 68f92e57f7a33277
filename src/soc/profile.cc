// Small functions over profiles.

#include "soc/profile.h"

namespace tandem::soc {

std::optional<double> find(const TypeTable& table, NumericType type) {
  for (const PerType& entry : table) {
    if (entry.type == type) return entry.value;
  }
  return std::nullopt;
}

const char* to_string(ActivationScale scale) {
  return scale == ActivationScale::kStatic ? "static" : "dynamic";
}

const char* to_string(Dataflow dataflow) {
  switch (dataflow) {
    case Dataflow::kWeightStationary:
      return "weight_stationary";
    case Dataflow::kInputStationary:
      return "input_stationary";
    case Dataflow::kOutputStationary:
      return "output_stationary";
  }
  return "unknown";
}

Result<SocProfile> with_variant(const SocProfile& profile, std::string_view name) {
  std::string known;
  for (const Variant& variant : profile.variants) {
    known += (known.empty() ? "" : ", ") + variant.name;
    if (variant.name != name) continue;
    SocProfile out = profile;
    if (variant.unit == "cpu") {
      if (variant.max_bytes_per_s) out.cpu.max_bytes_per_s = *variant.max_bytes_per_s;
      if (variant.mac_efficiency) out.cpu.mac_efficiency = *variant.mac_efficiency;
      if (variant.launch_s) out.cpu.node_overhead_s = *variant.launch_s;
      return out;
    }
    for (NpuProfile& npu : out.npus) {
      if (npu.name != variant.unit) continue;
      if (variant.launch_s) npu.launch_s = *variant.launch_s;
      if (variant.launches_per_step) npu.launches_per_step = *variant.launches_per_step;
      if (variant.launches_per_layer) npu.launches_per_layer = *variant.launches_per_layer;
      if (variant.max_bytes_per_s) npu.dma.max_bytes_per_s = *variant.max_bytes_per_s;
      if (variant.mac_efficiency) npu.array.mac_efficiency = *variant.mac_efficiency;
    }
    return out;
  }
  return failure(ErrorCode::kNotFound, "{}: variant \"{}\" is not known; known are {}",
                 profile.name, name, known.empty() ? "none" : known);
}

}  // namespace tandem::soc
