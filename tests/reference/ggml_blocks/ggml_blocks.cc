// Asks ggml how it encodes and decodes the vectors of block_vectors.h and writes the answers.
// kCommand says how to run it.

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/reference/ggml_blocks/block_vectors.h"

namespace tandem {
namespace {

constexpr const char* kCommand =
    "npm install --no-save --ignore-scripts @node-llama-cpp/linux-x64@3.22.1; ninja ggml_blocks; "
    "ggml_blocks node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libggml-base.so "
    "tests/data/blocks";

using QuantizeFn = void (*)(const float*, void*, int64_t);
using DequantizeFn = void (*)(const void*, float*, int64_t);

struct Format {
  DType type;
  const char* suffix;  ///< of ggml's function names
  bool closed_form;    ///< the encoder leaves no freedom, so its bytes are worth recording
};
constexpr Format kFormats[] = {
    {DType::kQ4_0, "q4_0", true},      {DType::kQ4_1, "q4_1", true},
    {DType::kQ5_0, "q5_0", true},      {DType::kQ5_1, "q5_1", true},
    {DType::kQ8_0, "q8_0", true},      {DType::kQ2_K, "q2_K", false},
    {DType::kQ3_K, "q3_K", false},     {DType::kQ4_K, "q4_K", false},
    {DType::kQ5_K, "q5_K", false},     {DType::kQ6_K, "q6_K", false},
    {DType::kIQ4_NL, "iq4_nl", false}, {DType::kIQ4_XS, "iq4_xs", false},
    {DType::kMXFP4, "mxfp4", true},    {DType::kQ2_0, "q2_0", false},
};

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    char text[4];
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(byte));
    out += text;
  }
  return out;
}

std::vector<float> dequantize(DType type, DequantizeFn fn, std::span<const std::byte> blocks) {
  const DTypeInfo& i = info(type);
  std::vector<float> out(blocks.size() / i.block_bytes * i.block_size);
  fn(blocks.data(), out.data(), static_cast<int64_t>(out.size()));
  return out;
}

nlohmann::ordered_json decode_goldens(DType type, DequantizeFn fn) {
  nlohmann::ordered_json out;
  for (const std::string_view kind : block_vectors::kBlockKinds) {
    out["hash"][kind] =
        hex(block_vectors::hash_floats(dequantize(type, fn, block_vectors::blocks(type, kind))));
  }
  const std::vector<std::byte> typical = block_vectors::blocks(type, "typical");
  const auto block = std::span(typical).first(info(type).block_bytes);
  out["example"]["block"] = hex(block);
  out["example"]["values"] = dequantize(type, fn, block);
  return out;
}

nlohmann::ordered_json encode_goldens(const Format& format, QuantizeFn quantize, DequantizeFn fn) {
  const DType type = format.type;
  nlohmann::ordered_json out;
  for (const std::string_view kind : block_vectors::kWeightKinds) {
    const std::vector<float> weights = block_vectors::weights(kind);
    std::vector<std::byte> blocks(row_bytes(type, weights.size()));
    quantize(weights.data(), blocks.data(), static_cast<int64_t>(weights.size()));
    out[kind]["rmse"] = block_vectors::rmse(weights, dequantize(type, fn, blocks));
    if (format.closed_form) out[kind]["hash"] = hex(block_vectors::hash_bytes(blocks));
  }
  return out;
}

bool write_goldens(void* library, const Format& format, const std::string& folder) {
  const std::string suffix = format.suffix;
  const auto quantize =
      reinterpret_cast<QuantizeFn>(dlsym(library, ("quantize_row_" + suffix + "_ref").c_str()));
  const auto fn =
      reinterpret_cast<DequantizeFn>(dlsym(library, ("dequantize_row_" + suffix).c_str()));
  if (quantize == nullptr || fn == nullptr) {
    std::fprintf(stderr, "the library has no functions for %s\n", format.suffix);
    return false;
  }
  nlohmann::ordered_json out;
  out["type"] = name(format.type);
  out["command"] = kCommand;
  out["decode"] = decode_goldens(format.type, fn);
  out["encode"] = encode_goldens(format, quantize, fn);
  std::string file_name = suffix;
  std::transform(file_name.begin(), file_name.end(), file_name.begin(), ::tolower);
  std::ofstream(folder + "/" + file_name + ".json") << out.dump(1) << "\n";
  return true;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ggml_blocks <libggml-base.so> <output folder>\n");
    return 2;
  }
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  for (const tandem::Format& format : tandem::kFormats) {
    if (!tandem::write_goldens(library, format, argv[2])) return 1;
  }
  return 0;
}
