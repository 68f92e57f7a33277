#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "soc/numeric_type.h"

/// What a system on a chip has and costs, as data. docs/soc_profiles.md is the schema of the files
/// these structs are read from; all units here are SI (seconds, hertz, bytes, joules, watts).
namespace tandem::soc {

/// Where a number of a profile comes from.
struct Figure {
  std::string path;  ///< "npus[0].array.rows"
  double value;      ///< in the file's unit
  std::string source;
  bool estimated;  ///< not measured, published or derived: a guess that says so
};

/// One value for some number formats.
struct PerType {
  NumericType type;
  double value;
};
using TypeTable = std::vector<PerType>;
/// The value for `type`, or nothing.
std::optional<double> find(const TypeTable& table, NumericType type);

struct DramProfile {
  double capacity_bytes = 0;
  double peak_bytes_per_s = 0;
  double usable_bytes_per_s = 0;  ///< all units together
  double joules_per_byte = 0;
};

struct CpuCluster {
  std::string name;
  uint32_t cores = 0;
  double clock_hz = 0;
  TypeTable macs_per_cycle;    ///< SIMD multiply-accumulates of one core, by activation type
  double max_bytes_per_s = 0;  ///< DRAM bandwidth the cluster can draw alone
  double watts_per_core = 0;   ///< a core that computes
};

struct CpuProfile {
  std::vector<CpuCluster> clusters;
  double max_bytes_per_s = 0;  ///< DRAM bandwidth all clusters together can draw
  double mac_efficiency = 1;   ///< of the SIMD peak, in matrix products
  double node_overhead_s = 0;  ///< threads meeting at the end of a node
  double joules_per_mac = 0;   ///< int8, beyond the cores' watts
};

enum class Dataflow : uint8_t { kWeightStationary, kInputStationary, kOutputStationary };
const char* to_string(Dataflow dataflow);

/// How many passes through the array a product of these types takes.
struct MacRate {
  NumericType activations;
  NumericType weights;
  double passes;
};

/// `count` systolic arrays of `rows` x `columns` multiply-accumulate cells.
struct ArrayProfile {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t count = 1;
  Dataflow dataflow = Dataflow::kWeightStationary;
  double clock_hz = 0;
  double mac_efficiency = 1;          ///< 1: only the folds' own fill and drain is lost
  uint32_t min_stream = 1;            ///< the streamed dimension is rounded up to this
  double load_cycles_per_row = 1;     ///< to load one row of stationary operands
  bool skewed_output_writes = false;  ///< SCALE-Sim's count of output writes (docs/simulator.md)
  std::vector<MacRate> rates;
};

struct VectorProfile {
  double clock_hz = 0;
  double lanes = 0;                 ///< 16-bit elements an operation handles, all threads together
  double efficiency = 1;            ///< of the lanes, in norms, softmax, activations
  TypeTable macs_per_cycle;         ///< for products that the array is not used for
  uint32_t max_matmul_rows = 0;     ///< products of at most this many rows run here if faster
  double unpack_weights_per_s = 0;  ///< rate of widening weights to floating point; 0: free
};

struct DmaProfile {
  uint32_t channels = 1;
  double max_bytes_per_s = 0;  ///< DRAM bandwidth the unit can draw alone
  double latency_s = 0;        ///< from issue to first byte, of each transfer that nothing hides
  bool near_memory = false;    ///< the unit sits in the DRAM: it takes nothing from the shared bus
};

enum class PowerKind : uint8_t { kOff, kIdle, kActive };

struct PowerStateProfile {
  std::string name;  ///< "burst"
  PowerKind kind = PowerKind::kActive;
  double clock_scale = 1;  ///< of array and vector clocks
  double watts = 0;        ///< static, while in this state
  double wake_s = 0;       ///< from this state to the first active one
};

/// What the scale of an integer activation code belongs to.
enum class ActivationScale : uint8_t {
  kDynamic,  ///< computed from the activations: a group of 32 with int8, a row with int16
  kStatic,   ///< one for the tensor, from the ranges that calibration stored in the model
};
const char* to_string(ActivationScale scale);

/// What the unit's driver accepts for one kind of node.
struct OperatorRule {
  Op op;
  std::vector<NumericType> activations;
  std::vector<NumericType> weights;                              ///< linear and embed only
  ActivationScale activation_scale = ActivationScale::kDynamic;  ///< linear only
  uint32_t n_multiple = 1;                                       ///< outputs must be a multiple
  uint32_t k_multiple = 1;                                       ///< reduction must be a multiple
  uint64_t max_rows = 0;                                         ///< tokens at once; 0: no limit
  uint64_t max_dimension = 0;                                    ///< of N and K; 0: no limit
  std::string since_driver;                                      ///< empty: every version
};

struct NpuLimits {
  double context_bytes = 0;   ///< weights and buffers one context can map; 0: no limit
  uint32_t max_contexts = 0;  ///< at once; 0: no limit
  bool static_shapes = true;
  std::vector<uint32_t> buckets;  ///< token counts worth compiling for, rising
};

struct NpuProfile {
  std::string name;    ///< "hexagon-v75"
  std::string driver;  ///< dotted version, "2.29"
  ArrayProfile array;
  VectorProfile vector;
  DmaProfile dma;
  double sram_bytes = 0;
  double launch_s = 0;           ///< host to unit and back, each launch of a compiled graph
  double launches_per_step = 1;  ///< of the published stack, used to compare with its figures
  double launches_per_layer = 0;
  uint32_t prefill_chunk = 128;  ///< tokens the published stack computes together
  double scale_bits = 0.25;  ///< beside each weight of four bits or fewer, in the published stack
  double compile_s = 0;      ///< each graph
  double compile_s_per_node = 0;
  NpuLimits limits;
  std::vector<OperatorRule> operators;
  std::vector<PowerStateProfile> power_states;
  std::string energy_table;  ///< name of the table the joules come from
  TypeTable joules_per_mac;  ///< by activation type
  double joules_per_vector_op = 0;
  double joules_per_sram_byte = 0;
};

/// One thermal resistance and capacity from the chip to the air.
struct ThermalProfile {
  double ambient_c = 25;
  double resistance_c_per_w = 0;
  double capacity_j_per_c = 0;
  double throttle_c = 0;       ///< clocks are scaled down above
  double throttled_scale = 1;  ///< to this
};

/// The software that a published figure was measured with: at most three parameters of its own.
struct Variant {
  std::string name;
  std::string unit;  ///< an NPU's name or "cpu"
  std::optional<double> launch_s;
  std::optional<double> launches_per_step;
  std::optional<double> launches_per_layer;
  std::optional<double> max_bytes_per_s;
  std::optional<double> mac_efficiency;
};

struct SocProfile {
  std::string name;      ///< "snapdragon-8-gen-3"
  std::string title;     ///< for people
  std::string updated;   ///< ISO date
  bool what_if = false;  ///< no such part exists: every figure is estimated
  DramProfile dram;
  CpuProfile cpu;
  std::vector<NpuProfile> npus;
  ThermalProfile thermal;
  double board_watts = 0;  ///< the rest of the device while it works: rails, screen off
  std::vector<Variant> variants;
  std::vector<Figure> figures;  ///< every number of the file, in its order
};

/// The profile as a variant's software runs it. Errors: kNotFound listing the known ones.
Result<SocProfile> with_variant(const SocProfile& profile, std::string_view variant);

}  // namespace tandem::soc
