#include "device/cpu/cpu_device.h"

#include <mutex>

#include "base/cpu_features.h"
#include "device/cpu/cpu_executable.h"
#include "device/cpu/roofline.h"
#include "graph/node_work.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

constexpr int kMaxThreads = 256;

std::vector<OpSupport> supported_ops(kernels::Isa isa) {
  std::vector<OpSupport> out;
  for (int i = 0; i < kOpCount; ++i) out.push_back({static_cast<Op>(i)});
  for (const DTypeInfo& type : all_dtypes()) {
    if (holds_weights(type.type)) {
      out[static_cast<size_t>(Op::kEmbed)].weight_types.push_back(type.type);
    }
    if (kernels::select_linear(isa, type.type) != nullptr) {
      out[static_cast<size_t>(Op::kLinear)].weight_types.push_back(type.type);
    }
  }
  return out;
}

/// What every view of one processor shares. One execution, compilation or measurement at a time.
struct Processor {
  Processor(kernels::Isa isa, int n_threads, std::shared_ptr<CompileCache> compile_cache)
      : kernels(isa), pool(n_threads), weights(std::move(compile_cache)) {}

  KernelSet kernels;
  std::mutex mutex;
  ThreadPool pool;
  Scratch scratch;
  WeightStore weights;
  std::optional<Roofline> roofline;
};

class CpuDevice : public Device {
 public:
  CpuDevice(std::shared_ptr<Processor> processor, ArithmeticOf arithmetic)
      : processor_(std::move(processor)),
        arithmetic_(arithmetic ? std::move(arithmetic) : own_arithmetic) {
    const kernels::Isa isa = processor_->kernels.isa;
    capabilities_.name = "cpu";
    capabilities_.description = processor_name();
    capabilities_.isa = kernels::to_string(isa);
    capabilities_.n_threads = processor_->pool.n_threads();
    capabilities_.host = true;
    capabilities_.shares_memory = true;
    capabilities_.driver = TANDEM_VERSION;
    capabilities_.ops = supported_ops(isa);
  }

  const std::shared_ptr<Processor>& processor() const { return processor_; }

  const Capabilities& describe() const override { return capabilities_; }

  std::optional<Reason> supports(const Graph& graph, const Node& node,
                                 const StepShape&) const override {
    const auto* linear = std::get_if<LinearAttributes>(&node.attributes);
    if (linear == nullptr) return std::nullopt;
    const Weight& weight = graph.weights[linear->weight];
    if (kernels::select_linear(processor_->kernels.isa, weight.type) != nullptr)
      return std::nullopt;
    return Reason{ReasonCode::kUnsupportedDtype,
                  fmt::format("{} has type {}, for which there is no linear kernel", weight.name,
                              name(weight.type))};
  }

  Estimate estimate(const Graph& graph, NodeRange segment, const StepLoad& load) const override {
    const Roofline roofline = this->roofline();
    Estimate out;
    for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
      const Node& node = graph.nodes[i];
      const NodeWork work = count_work(graph, node, load.n_tokens, load.context);
      const auto* linear = std::get_if<LinearAttributes>(&node.attributes);
      const bool integer = linear != nullptr &&
                           kernels::uses_quantized_activations(graph.weights[linear->weight].type);
      out.seconds += seconds_for(roofline, work, integer);
      out.bytes += work.weight_bytes + work.state_bytes;
      out.macs += work.macs;
    }
    return out;
  }

  Result<std::unique_ptr<Executable>> compile(const Graph& graph, NodeRange segment,
                                              const StepShape& shape,
                                              const WorkspaceLayout& layout) override {
    for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
      if (const auto reason = supports(graph, graph.nodes[i], shape)) {
        return failure(ErrorCode::kUnsupported, "{}: {}", graph.nodes[i].name, reason->sentence);
      }
    }
    Processor& p = *processor_;
    const std::lock_guard lock(p.mutex);
    TANDEM_TRY(auto executable, CpuExecutable::create(graph, segment, shape, layout,
                                                      {p.kernels, p.weights, p.pool, arithmetic_}));
    TANDEM_TRY(p.scratch.reserve(executable->scratch_needs(), p.pool.n_threads()));
    return executable;
  }

  Event enqueue(const Executable& executable, const Bindings& bindings,
                std::span<const Event> after) override {
    for (const Event& event : after) {
      if (auto outcome = event.wait(); !outcome) return Event::completed(std::move(outcome));
    }
    Processor& p = *processor_;
    const std::lock_guard lock(p.mutex);
    return Event::completed(
        static_cast<const CpuExecutable&>(executable).run(bindings, p.pool, p.scratch));
  }

  Result<Access> import(std::span<const std::byte>) override { return Access::kMapped; }

  Result<void> set_power_state(PowerState) override { return {}; }

 private:
  /// Measured when it is first asked for; a plan over one device never does.
  Roofline roofline() const {
    Processor& p = *processor_;
    const std::lock_guard lock(p.mutex);
    // Without the memory to measure with, orders of magnitude must do.
    if (!p.roofline) {
      p.roofline =
          measure_roofline(p.kernels, p.pool).value_or(Roofline{1e10, 1e9, 1e9, 1e8, 1e-6});
    }
    return *p.roofline;
  }

  std::shared_ptr<Processor> processor_;
  ArithmeticOf arithmetic_;
  Capabilities capabilities_;
};

}  // namespace

LinearArithmetic own_arithmetic(const Weight& weight) {
  const bool is_wide = weight.input != nullptr && weight.input->wide;
  return is_wide && kernels::uses_quantized_activations(weight.type) ? LinearArithmetic::kInt16Rows
                                                                     : LinearArithmetic::kGroups;
}

bool can_run(kernels::Isa isa) {
  static const CpuFeatures features = CpuFeatures::detect();
  bool built = false;
  for (const kernels::LinearRow& row : kernels::linear_rows()) built |= row.isa == isa;
  switch (isa) {
    case kernels::Isa::kScalar:
      return true;
    case kernels::Isa::kAvx2:
      return built && features.avx2;
    case kernels::Isa::kAvx512Vnni:
      return built && features.avx512_vnni;
    case kernels::Isa::kAvx512Bf16:
      return built && features.avx512_vnni && features.avx512_bf16;
    case kernels::Isa::kAmx:
      return built && features.amx;
  }
  return false;
}

kernels::Isa best_isa() {
  for (int i = kernels::kIsaCount - 1; i > 0; --i) {
    if (can_run(static_cast<kernels::Isa>(i))) return static_cast<kernels::Isa>(i);
  }
  return kernels::Isa::kScalar;
}

Result<kernels::Isa> isa_from_name(const std::string& name) {
  std::string known;
  for (int i = 0; i < kernels::kIsaCount; ++i) {
    const auto isa = static_cast<kernels::Isa>(i);
    if (name == kernels::to_string(isa)) return isa;
    known += std::string(i == 0 ? "" : ", ") + kernels::to_string(isa);
  }
  return failure(ErrorCode::kInvalidArgument, "instruction set \"{}\" is not known; known are {}",
                 name, known);
}

Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options) {
  const int n_threads = options.n_threads == 0 ? usable_processors() : options.n_threads;
  if (n_threads < 1 || n_threads > kMaxThreads) {
    return failure(ErrorCode::kInvalidArgument, "threads is {}, must be between 1 and {}",
                   n_threads, kMaxThreads);
  }
  const kernels::Isa isa = options.isa.value_or(best_isa());
  if (!can_run(isa)) {
    return failure(ErrorCode::kUnsupported,
                   "instruction set {} cannot run here: this processor has {}",
                   kernels::to_string(isa), CpuFeatures::detect().to_string());
  }
  return std::make_unique<CpuDevice>(
      std::make_shared<Processor>(isa, n_threads, options.compile_cache), ArithmeticOf{});
}

std::unique_ptr<Device> share_cpu_device(const Device& cpu, ArithmeticOf arithmetic) {
  return std::make_unique<CpuDevice>(static_cast<const CpuDevice&>(cpu).processor(),
                                     std::move(arithmetic));
}

}  // namespace tandem
