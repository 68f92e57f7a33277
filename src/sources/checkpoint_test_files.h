#pragma once

// For tests: safetensors and JSON files written by hand, right or wrong.

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/mapped_file.h"

namespace tandem {

/// A safetensors file with this header and `n_data` bytes 0, 1, 2, ...
inline std::string safetensors_bytes(const std::string& header, size_t n_data) {
  const uint64_t length = header.size();
  std::string out(reinterpret_cast<const char*>(&length), sizeof length);
  out += header;
  for (size_t i = 0; i < n_data; ++i) out.push_back(static_cast<char>(i));
  return out;
}

/// `tensors`: name, type and shape; each gets the next bytes.
struct NamedShape {
  std::string name;
  std::string type;
  std::vector<uint64_t> shape;
};
inline std::string safetensors_of(const std::vector<NamedShape>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  size_t offset = 0;
  for (const NamedShape& t : tensors) {
    size_t n = t.type == "F32" ? 4 : t.type == "U8" ? 1 : 2;
    for (const uint64_t dim : t.shape) n *= dim;
    header[t.name] = {
        {"dtype", t.type}, {"shape", t.shape}, {"data_offsets", {offset, offset + n}}};
    offset += n;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return safetensors_bytes(text, offset);
}

inline std::shared_ptr<const MappedFile> in_memory(const std::string& name,
                                                   const std::string& bytes) {
  return MappedFile::view(name, std::as_bytes(std::span(bytes)));
}

}  // namespace tandem
