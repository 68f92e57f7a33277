#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace parity {

/// Texts given as token ids, one text a line; empty when the file is missing or has another line.
inline std::vector<std::vector<int32_t>> read_token_texts(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<int32_t>> texts;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<int32_t>& ids = texts.emplace_back();
    for (int32_t id; words >> id;) ids.push_back(id);
    if (ids.empty() || !words.eof()) return {};
  }
  return texts;
}

}  // namespace parity
