#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/device_flags.h"
#include "engine/engine.h"

namespace tandem::cli {

/// The flags of every command that runs a model.
struct ModelFlags {
  std::string model = {};  ///< path; empty: the embedded demo model
  uint32_t context = 0;
  int threads = 0;
  std::string isa = {};
  std::string kv = "f16";  ///< or "q8"
  std::string pre = {};
  uint32_t chunk = EngineOptions{}.prefill_chunk;
  bool check_finite = false;
  bool scan_weights = false;
  std::string precision = {};  ///< "int4" or "int8" of nested files; empty: what the file holds
  bool accept_int4 = false;
  DeviceFlags device = {};
};

void add_model_flags(CLI::App& command, ModelFlags& flags);

/// Opens the model file, or the embedded one. Warnings of the library go to standard error.
Result<std::shared_ptr<const Model>> open_model(const ModelFlags& flags);

/// What the flags say of the engine.
Result<EngineOptions> engine_options(const ModelFlags& flags);

/// Opens the model and compiles it for this machine.
Result<std::shared_ptr<Engine>> open_engine(const ModelFlags& flags);

}  // namespace tandem::cli
