#include "engine/precision.h"

#include "formats/nested_section.h"

namespace tandem {

Result<WeightPlanes> choose_planes(const std::string& precision, const Model& model) {
  if (precision.empty()) return WeightPlanes::kBoth;
  if (precision != "int4" && precision != "int8") {
    return failure(ErrorCode::kInvalidArgument,
                   "precision \"{}\" is not known; known are int4, int8", precision);
  }
  const bool is_int4 = precision == "int4";
  // A file that lost its low planes may still be asked for INT4.
  if (model.is_nested() || (is_int4 && describes_low_planes(model.metadata()))) {
    return is_int4 ? WeightPlanes::kHigh : WeightPlanes::kBoth;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "precision {}: {} holds no low planes, so its weights have one precision only",
                 precision, model.metadata().source());
}

}  // namespace tandem
