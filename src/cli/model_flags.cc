#include "cli/model_flags.h"

#include "cli/command.h"
#include "cli/embedded_model.h"
#include "device/cpu/cpu_device.h"
#include "engine/precision.h"
#include "formats/gguf_reader.h"
#include "model/weight_scan.h"

namespace tandem::cli {

void add_model_flags(CLI::App& command, ModelFlags& flags) {
  command.add_option("-m,--model", flags.model,
                     "GGUF file, Hugging Face or MLC folder (default: the embedded demo model)");
  command
      .add_option("-c,--context", flags.context,
                  "Positions a session may hold (default: the model's, at most 32768)")
      ->check(CLI::Range(1, 1 << 24));
  command.add_option("-t,--threads", flags.threads, "Compute threads; 0: all processors")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  command
      .add_option("--isa", flags.isa,
                  "Force kernels: scalar, avx2, avx512_vnni, avx512_bf16 or amx")
      ->envname("TANDEM_ISA");
  command
      .add_option("--kv", flags.kv,
                  "Storage of keys and values: f16, or q8 (half the bytes, docs/attention.md)")
      ->check(CLI::IsMember({"f16", "q8"}))
      ->capture_default_str();
  command.add_option("--pre", flags.pre, "Override the file's pre-tokenizer name");
  command.add_option("--chunk", flags.chunk, "Prompt tokens computed together")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      .add_option("--precision", flags.precision,
                  "Of a nested file: int4 (its high planes) or int8 (both; the default)")
      ->check(CLI::IsMember({"int4", "int8"}));
  command.add_flag("--accept-int4", flags.accept_int4,
                   "Run a nested file whose low planes were lost at INT4");
  command.add_flag("--check-finite", flags.check_finite,
                   "Stop at the first NaN or infinity, naming the layer");
  command.add_flag("--scan-weights", flags.scan_weights,
                   "Read every weight first and refuse a scale or value that is NaN or infinite");
  add_planning_flags(command, flags.device);
  add_safety_flags(command, flags.device);
}

Result<std::shared_ptr<const Model>> open_model(const ModelFlags& flags) {
  const ModelOptions options{
      .tokenizer = {.pre_override = flags.pre, .extra_end_ids = {}, .log = print_warning},
      .missing_planes = flags.accept_int4 || flags.precision == "int4" ? MissingPlanes::kAccept
                                                                       : MissingPlanes::kRefuse};
  std::shared_ptr<const Model> model;
  if (!flags.model.empty()) {
    TANDEM_TRY(model, Model::load(flags.model, options));
  } else {
    TANDEM_TRY(ModelFile file, parse_gguf(embedded_model()));
    TANDEM_TRY(model, Model::from_file(std::move(file), options));
  }
  if (flags.scan_weights) {
    TANDEM_TRY(check_weights_finite(model->file()));
  }
  TANDEM_TRY(choose_planes(flags.precision, *model));
  return model;
}

Result<EngineOptions> engine_options(const ModelFlags& flags) {
  EngineOptions options{
      .context = flags.context,
      .n_threads = flags.threads,
      .isa = std::nullopt,
      .kv_storage = flags.kv == "q8" ? kernels::KvStorage::kI8 : kernels::KvStorage::kF16,
      .prefill_chunk = flags.chunk,
      .check_finite = flags.check_finite};
  if (!flags.isa.empty()) {
    TANDEM_TRY(options.isa, isa_from_name(flags.isa));
  }
  if (flags.precision == "int4") options.planes = WeightPlanes::kHigh;
  TANDEM_TRY(apply(flags.device, options));
  return options;
}

Result<std::shared_ptr<Engine>> open_engine(const ModelFlags& flags) {
  TANDEM_TRY(const EngineOptions options, engine_options(flags));
  TANDEM_TRY(auto model, open_model(flags));
  TANDEM_TRY(auto engine, Engine::create(std::move(model), options));
  TANDEM_TRY(check_required(flags.device, *engine));
  if (flags.device.warm_up) engine->warm_up();
  return engine;
}

}  // namespace tandem::cli
