#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tandem {

/// What a reply parser wants to know of the tools a model was offered: their names, and which
/// parameters are strings. Formats that write values without quotes cannot tell 7 from "7" alone.
class ToolTypes {
 public:
  /// Unknown tools: any name may be called, and values are judged by their look.
  ToolTypes() = default;

  /// From the `tools` array of a chat request (OpenAI's form, or bare functions).
  /// Errors: kInvalidArgument saying what is wrong.
  static Result<ToolTypes> parse(std::string_view tools_json);

  bool is_empty() const { return strings_.empty(); }
  bool has_tool(std::string_view name) const { return strings_.find(name) != strings_.end(); }
  /// True when the schema says that the parameter is a string (or an enumeration of strings).
  bool is_string(std::string_view tool, std::string_view parameter) const;

 private:
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> strings_;
};

}  // namespace tandem
