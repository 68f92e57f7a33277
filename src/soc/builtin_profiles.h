#pragma once

#include <span>
#include <string_view>

namespace tandem::soc {

struct BuiltinProfile {
  std::string_view name;  ///< the file's, without ".json"
  std::string_view json;
};

/// profiles/*.json as they were when this was built; the source is written by CMake.
std::span<const BuiltinProfile> builtin_profiles();

}  // namespace tandem::soc
