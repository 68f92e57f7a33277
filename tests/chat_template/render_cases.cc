// Renders templates as a filter, for the differential scripts beside it: each line of standard
// input is {"template": ..., "variables": {...}}, each line of output {"text": ...} or
// {"error": ..., "refused": true when the template raised it}.

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "text/chat_template/chat_template.h"

namespace {

nlohmann::ordered_json render(const nlohmann::ordered_json& task) {
  const auto parsed = tandem::ChatTemplate::parse(task.at("template").get<std::string>());
  if (!parsed) return {{"error", parsed.error().message}, {"refused", false}};
  const auto text = parsed->render(task.at("variables"));
  if (text) return {{"text", *text}};
  return {{"error", text.error().message},
          {"refused", text.error().code == tandem::ErrorCode::kInvalidArgument}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << render(nlohmann::ordered_json::parse(line)).dump() << std::endl;
  }
}
