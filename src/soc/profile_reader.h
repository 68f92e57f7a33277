#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "soc/profile.h"

namespace tandem::soc {

/// Reads a profile (schema tandem.soc_profile.v1, docs/soc_profiles.md). `origin` names the text in
/// errors. Errors: kCorruptFile naming origin, field, value and limit; an unknown field is one too.
Result<SocProfile> parse_profile(std::string_view json, const std::string& origin);

/// As parse_profile, from a file of at most 1 MiB.
Result<SocProfile> load_profile(const std::string& path);

/// The profiles of this build: profiles/*.json.
std::vector<std::string> builtin_profile_names();

/// A built-in profile by its name, or the file when `name` has a slash or ends with ".json".
/// Errors: kNotFound listing the built-in ones.
Result<SocProfile> find_profile(std::string_view name);

}  // namespace tandem::soc
