#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "formats/model_file.h"

namespace tandem::cli {

/// What of a model file is listed.
struct InspectOptions {
  bool metadata = true;
  bool tensors = true;
  /// Only keys and tensors whose name contains this, or matches it when it has * or ?. Empty: all.
  std::string filter;
  /// Long texts and arrays in full, not their beginning.
  bool full = false;
};

/// For people: a summary, bytes by type, metadata and tensors in columns. Control characters and
/// broken UTF-8 of the file come out escaped.
std::string inspect_text(const ModelFile& model, const InspectOptions& options);

/// The same for programs, in the schema tandem.inspect.v1 (docs/gguf.md).
nlohmann::ordered_json inspect_json(const ModelFile& model, const InspectOptions& options);

/// Whether `name` passes InspectOptions::filter.
bool passes_filter(std::string_view name, std::string_view filter);

}  // namespace tandem::cli
