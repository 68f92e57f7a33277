// The schema of profile files: which field goes where, with its limits and unit.

#include "soc/profile_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/mapped_file.h"
#include "soc/builtin_profiles.h"
#include "soc/json_fields.h"

namespace tandem::soc {
namespace {

constexpr char kSchema[] = "tandem.soc_profile.v1";
constexpr size_t kMaxFileBytes = 1 << 20;

constexpr Range kGigabytesPerSecond{1e-3, 1e5, 1e9};
constexpr Range kGigahertz{1e-3, 20, 1e9};
constexpr Range kFraction{1e-3, 1, 1};
constexpr Range kMicroseconds{0, 1e8, 1e-6};
constexpr Range kWatts{0, 1e3, 1};
constexpr Range kPicojoules{0, 1e6, 1e-12};
constexpr Range kRate{1e-3, 1e7, 1};

DramProfile read_dram(Fields f) {
  DramProfile out;
  out.capacity_bytes = f.number("capacity_gib", {1e-4, 4096, double(1ull << 30)});
  out.peak_bytes_per_s = f.number("peak_gb_per_s", kGigabytesPerSecond);
  out.usable_bytes_per_s = f.number("usable_gb_per_s", kGigabytesPerSecond);
  out.joules_per_byte = f.number("pj_per_bit", {0, 1e3, 8e-12});
  if (out.usable_bytes_per_s > out.peak_bytes_per_s) {
    f.fail("usable_gb_per_s.value",
           fmt::format("{} is above peak_gb_per_s {}", out.usable_bytes_per_s / 1e9,
                       out.peak_bytes_per_s / 1e9));
  }
  f.finish();
  return out;
}

CpuCluster read_cluster(Fields f) {
  CpuCluster out;
  out.name = f.text("name");
  out.cores = f.count("cores", 1, 1024);
  out.clock_hz = f.number("clock_ghz", kGigahertz);
  out.macs_per_cycle = f.type_table("macs_per_cycle", kRate);
  out.max_bytes_per_s = f.number("max_gb_per_s", kGigabytesPerSecond);
  out.watts_per_core = f.number("watts_per_core", kWatts);
  f.finish();
  return out;
}

CpuProfile read_cpu(Fields f) {
  CpuProfile out;
  out.max_bytes_per_s = f.number("max_gb_per_s", kGigabytesPerSecond);
  out.mac_efficiency = f.number("mac_efficiency", kFraction);
  out.node_overhead_s = f.number("node_overhead_us", kMicroseconds);
  out.joules_per_mac = f.number("pj_per_mac", kPicojoules);
  for (Fields& cluster : f.list("clusters", 1)) out.clusters.push_back(read_cluster(cluster));
  f.finish();
  return out;
}

Dataflow read_dataflow(Fields& f) {
  const std::string name = f.text("dataflow");
  for (const Dataflow flow :
       {Dataflow::kWeightStationary, Dataflow::kInputStationary, Dataflow::kOutputStationary}) {
    if (name == to_string(flow)) return flow;
  }
  f.fail("dataflow", fmt::format("\"{}\" is not known; known are weight_stationary, "
                                 "input_stationary, output_stationary",
                                 name));
  return Dataflow::kWeightStationary;
}

MacRate read_rate(Fields f) {
  MacRate out{};
  out.activations = f.type("activations").value_or(NumericType::kInt8);
  out.weights = f.type("weights").value_or(NumericType::kInt8);
  out.passes = f.number("passes", {1.0 / 16, 64});
  f.finish();
  return out;
}

ArrayProfile read_array(Fields f) {
  ArrayProfile out;
  out.rows = f.count("rows", 1, 4096);
  out.columns = f.count("columns", 1, 4096);
  out.count = f.count("count", 1, 4096);
  out.dataflow = read_dataflow(f);
  out.clock_hz = f.number("clock_ghz", kGigahertz);
  out.mac_efficiency = f.number("mac_efficiency", kFraction);
  out.min_stream = f.count_or("min_stream", 1, 65536, 1);
  out.load_cycles_per_row = f.number_or("load_cycles_per_row", {0, 1024}, 1);
  out.skewed_output_writes = f.flag_or("skewed_output_writes", false);
  for (Fields& rate : f.list("rates", 1)) out.rates.push_back(read_rate(rate));
  f.finish();
  return out;
}

VectorProfile read_vector(Fields f) {
  VectorProfile out;
  out.clock_hz = f.number("clock_ghz", kGigahertz);
  out.lanes = f.number("lanes", {1, 1e6});
  out.efficiency = f.number("efficiency", kFraction);
  out.macs_per_cycle = f.type_table("macs_per_cycle", kRate);
  out.max_matmul_rows = f.count("max_matmul_rows", 0, 65536);
  out.unpack_weights_per_s = f.number_or("unpack_gweights_per_s", {1e-3, 1e6, 1e9}, 0);
  f.finish();
  return out;
}

DmaProfile read_dma(Fields f) {
  DmaProfile out;
  out.channels = f.count("channels", 1, 1024);
  out.max_bytes_per_s = f.number("max_gb_per_s", kGigabytesPerSecond);
  out.latency_s = f.number("latency_us", kMicroseconds);
  out.near_memory = f.flag_or("near_memory", false);
  f.finish();
  return out;
}

ActivationScale read_activation_scale(Fields& f) {
  const std::string name = f.text_or("activation_scale", to_string(ActivationScale::kDynamic));
  for (const auto scale : {ActivationScale::kDynamic, ActivationScale::kStatic}) {
    if (name == to_string(scale)) return scale;
  }
  f.fail("activation_scale", fmt::format("\"{}\" is not known; known are dynamic, static", name));
  return ActivationScale::kDynamic;
}

OperatorRule read_operator(Fields f) {
  OperatorRule out{};
  const std::string name = f.text("op");
  bool known = false;
  std::string names;
  for (int i = 0; i <= static_cast<int>(Op::kSelectRows); ++i) {
    const char* candidate = to_string(static_cast<Op>(i));
    names += (names.empty() ? "" : ", ") + std::string(candidate);
    if (name != candidate) continue;
    out.op = static_cast<Op>(i);
    known = true;
  }
  if (!known) f.fail("op", fmt::format("\"{}\" is not known; known are {}", name, names));
  out.activations = f.types("activations");
  if (out.activations.empty()) f.fail("activations", "names no type");
  out.weights = f.types("weights");
  out.activation_scale = read_activation_scale(f);
  out.n_multiple = f.count_or("n_multiple", 1, 65536, 1);
  out.k_multiple = f.count_or("k_multiple", 1, 65536, 1);
  out.max_rows = f.count_or("max_rows", 0, 1 << 30, 0);
  out.max_dimension = f.count_or("max_dimension", 0, 1 << 30, 0);
  out.since_driver = f.text_or("since_driver", "");
  f.finish();
  return out;
}

PowerStateProfile read_power_state(Fields f) {
  PowerStateProfile out;
  out.name = f.text("name");
  const std::string kind = f.text("kind");
  if (kind == "off") {
    out.kind = PowerKind::kOff;
  } else if (kind == "idle") {
    out.kind = PowerKind::kIdle;
  } else if (kind != "active") {
    f.fail("kind", fmt::format("\"{}\" is not known; known are off, idle, active", kind));
  }
  out.clock_scale = f.number_or("clock_scale", kFraction, 1);
  out.watts = f.number("watts", kWatts);
  out.wake_s = f.number_or("wake_us", kMicroseconds, 0);
  f.finish();
  return out;
}

NpuLimits read_limits(Fields f) {
  NpuLimits out;
  out.context_bytes = f.number_or("context_gib", {0, 4096, double(1ull << 30)}, 0);
  out.max_contexts = f.count_or("max_contexts", 0, 65536, 0);
  out.static_shapes = f.flag_or("static_shapes", true);
  out.buckets = f.counts("buckets", 1 << 20);
  f.finish();
  return out;
}

void read_npu_energy(Fields f, NpuProfile& out) {
  out.energy_table = f.text("table");
  out.joules_per_mac = f.type_table("pj_per_mac", kPicojoules);
  out.joules_per_vector_op = f.number("pj_per_vector_op", kPicojoules);
  out.joules_per_sram_byte = f.number("pj_per_sram_byte", kPicojoules);
  f.finish();
}

NpuProfile read_npu(Fields f) {
  NpuProfile out;
  out.name = f.text("name");
  out.driver = f.text("driver");
  out.array = read_array(f.object("array"));
  out.vector = read_vector(f.object("vector"));
  out.dma = read_dma(f.object("dma"));
  out.sram_bytes = f.number("sram_kib", {1, 1 << 24, 1024});
  out.launch_s = f.number("launch_us", kMicroseconds);
  out.launches_per_step = f.number_or("launches_per_step", {0, 1e4}, 1);
  out.launches_per_layer = f.number_or("launches_per_layer", {0, 1e4}, 0);
  out.prefill_chunk = f.count_or("prefill_chunk", 1, 65536, 128);
  out.scale_bits = f.number_or("scale_bits", {0, 16}, out.scale_bits);
  out.compile_s = f.number("compile_ms", {0, 1e7, 1e-3});
  out.compile_s_per_node = f.number("compile_ms_per_node", {0, 1e6, 1e-3});
  out.limits = read_limits(f.object("limits"));
  for (Fields& rule : f.list("operators", 1)) out.operators.push_back(read_operator(rule));
  for (Fields& state : f.list("power_states", 1)) {
    out.power_states.push_back(read_power_state(state));
  }
  const auto active = [](const PowerStateProfile& s) { return s.kind == PowerKind::kActive; };
  if (std::none_of(out.power_states.begin(), out.power_states.end(), active)) {
    f.fail("power_states", "has no state of kind active");
  }
  read_npu_energy(f.object("energy"), out);
  f.finish();
  return out;
}

ThermalProfile read_thermal(Fields f) {
  ThermalProfile out;
  out.ambient_c = f.number("ambient_c", {-60, 120});
  out.resistance_c_per_w = f.number("resistance_c_per_w", {1e-3, 1e3});
  out.capacity_j_per_c = f.number("capacity_j_per_c", {1e-3, 1e6});
  out.throttle_c = f.number("throttle_c", {0, 200});
  out.throttled_scale = f.number("throttled_scale", kFraction);
  f.finish();
  return out;
}

constexpr int kMaxVariantParameters = 3;

Variant read_variant(Fields f, const SocProfile& soc) {
  Variant out;
  out.name = f.text("name");
  out.unit = f.text("unit");
  out.launch_s = f.optional_number("launch_us", kMicroseconds);
  out.launches_per_step = f.optional_number("launches_per_step", {0, 1e4});
  out.launches_per_layer = f.optional_number("launches_per_layer", {0, 1e4});
  out.max_bytes_per_s = f.optional_number("max_gb_per_s", kGigabytesPerSecond);
  out.mac_efficiency = f.optional_number("mac_efficiency", kFraction);
  const int used = out.launch_s.has_value() + out.launches_per_step.has_value() +
                   out.launches_per_layer.has_value() + out.max_bytes_per_s.has_value() +
                   out.mac_efficiency.has_value();
  if (used > kMaxVariantParameters) {
    f.fail("name",
           fmt::format("variant \"{}\" has {} parameters of its own; at most {} are allowed",
                       out.name, used, kMaxVariantParameters));
  }
  const bool known =
      out.unit == "cpu" || std::any_of(soc.npus.begin(), soc.npus.end(),
                                       [&](const NpuProfile& n) { return n.name == out.unit; });
  if (!known) {
    f.fail("unit", fmt::format("\"{}\" is neither cpu nor an NPU of this profile", out.unit));
  }
  f.finish();
  return out;
}

SocProfile read_profile(Fields f) {
  SocProfile out;
  if (const std::string schema = f.text("schema"); schema != kSchema) {
    f.fail("schema", fmt::format("\"{}\" cannot be read; this build reads {}", schema, kSchema));
  }
  out.name = f.text("name");
  out.title = f.text("title");
  out.updated = f.text("updated");
  out.what_if = f.flag_or("what_if", false);
  out.dram = read_dram(f.object("dram"));
  out.cpu = read_cpu(f.object("cpu"));
  for (Fields& npu : f.list("npus", 0)) out.npus.push_back(read_npu(npu));
  out.thermal = read_thermal(f.object("thermal"));
  out.board_watts = f.number("board_watts", kWatts);
  for (Fields& variant : f.list("variants", 0)) out.variants.push_back(read_variant(variant, out));
  f.finish();
  return out;
}

}  // namespace

Result<SocProfile> parse_profile(std::string_view json, const std::string& origin) {
  if (json.size() > kMaxFileBytes) {
    return failure(ErrorCode::kCorruptFile, "{}: {} bytes are above the limit of {} for a profile",
                   origin, json.size(), kMaxFileBytes);
  }
  ReadState state{.origin = origin, .figures = {}, .error = {}};
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    return failure(ErrorCode::kCorruptFile, "{}: not JSON: {}", origin, error.what());
  }
  SocProfile out = read_profile(Fields(state, document, ""));
  if (state.error) return tl::unexpected<Error>(*state.error);
  out.figures = std::move(state.figures);
  return out;
}

Result<SocProfile> load_profile(const std::string& path) {
  TANDEM_TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  return parse_profile({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::vector<std::string> builtin_profile_names() {
  std::vector<std::string> out;
  for (const BuiltinProfile& profile : builtin_profiles()) out.emplace_back(profile.name);
  return out;
}

Result<SocProfile> find_profile(std::string_view name) {
  if (name.find('/') != std::string_view::npos || name.ends_with(".json")) {
    return load_profile(std::string(name));
  }
  std::string known;
  for (const BuiltinProfile& profile : builtin_profiles()) {
    if (profile.name == name) {
      return parse_profile(profile.json, fmt::format("profiles/{}.json", name));
    }
    known += (known.empty() ? "" : ", ") + std::string(profile.name);
  }
  return failure(ErrorCode::kNotFound,
                 "SoC profile \"{}\" is not known; known are {}, or the path of a .json file", name,
                 known);
}

}  // namespace tandem::soc
