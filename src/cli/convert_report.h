#pragma once

#include <string>

#include "quantize/convert.h"
#include "quantize/mixed_precision.h"

namespace tandem::cli {

/// What `tandem convert` has done.
struct ConvertResult {
  std::string output;
  std::string sidecar;  ///< empty: none
  std::string source_format;
  ConvertReport report;
  std::optional<MixedPlan> mixed;  ///< where formats were chosen by measurement
};

/// A table of formats with sizes and errors, and what deserves attention.
std::string convert_text(const ConvertResult& result);
/// Schema tandem.convert.v1.
std::string convert_json(const ConvertResult& result);

}  // namespace tandem::cli
