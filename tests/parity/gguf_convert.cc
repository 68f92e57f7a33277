// Rewrites a GGUF file with every matrix in another type, by ggml's own decoders and encoders.
//
//   gguf_convert LIBRARY_FOLDER IN.gguf OUT.gguf TYPE
//
// TYPE is as ggml names it: f32, f16, bf16, q4_0, q4_K, iq4_xs, mxfp4, ... Vectors (norms, biases,
// rope factors) keep their type. A matrix whose rows TYPE cannot divide is an error, so that a
// file is of one type or not made. f32 gives a quantized file's exact weights for a reference run.
#include <strings.h>

#include <cstring>
#include <string>
#include <vector>

#include "llama_library.h"

namespace {

using parity::fail;
using parity::LlamaLibrary;

constexpr size_t kDescriptionBytes = 64 << 20;  // room for tensor descriptions, no data

ggml_type type_of_name(const LlamaLibrary& library, const char* name) {
  for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
    const auto type = static_cast<ggml_type>(i);
    if (strcasecmp(library.ggml_type_name(type), name) == 0) return type;
  }
  fail(std::string("ggml has no type ") + name);
}

std::vector<float> decoded(const LlamaLibrary& library, const ggml_tensor* tensor) {
  std::vector<float> values(library.ggml_nelements(tensor));
  if (tensor->type == GGML_TYPE_F32) {
    std::memcpy(values.data(), tensor->data, values.size() * sizeof(float));
    return values;
  }
  const auto to_float = library.ggml_get_type_traits(tensor->type)->to_float;
  if (to_float == nullptr) fail(std::string(tensor->name) + ": a type without decoder");
  to_float(tensor->data, values.data(), static_cast<int64_t>(values.size()));
  return values;
}

// The converted tensor; its data lives until the program ends.
ggml_tensor* converted(const LlamaLibrary& library, ggml_context* context,
                       const ggml_tensor* source, ggml_type type) {
  const int64_t row_length = source->ne[0];
  if (row_length % library.ggml_blck_size(type) != 0) {
    fail(std::string(source->name) + ": rows of " + std::to_string(row_length) +
         " elements cannot be " + library.ggml_type_name(type));
  }
  ggml_tensor* target =
      library.ggml_new_tensor(context, type, library.ggml_n_dims(source), source->ne);
  library.ggml_set_name(target, source->name);
  const std::vector<float> values = decoded(library, source);
  auto* data = new std::byte[library.ggml_nbytes(target)];
  if (type == GGML_TYPE_F32) {
    std::memcpy(data, values.data(), values.size() * sizeof(float));
  } else {
    const int64_t n_rows = static_cast<int64_t>(values.size()) / row_length;
    library.ggml_quantize_chunk(type, values.data(), data, 0, n_rows, row_length, nullptr);
  }
  target->data = data;
  return target;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) fail("usage: gguf_convert LIBRARY_FOLDER IN OUT TYPE");
  const LlamaLibrary library = parity::open_llama_library(argv[1]);
  const ggml_type type = type_of_name(library, argv[4]);

  ggml_context* sources = nullptr;
  const gguf_context* in = library.gguf_init_from_file(argv[2], {false, &sources});
  if (in == nullptr) fail(std::string(argv[2]) + ": ggml does not read it");
  ggml_context* targets = library.ggml_init({kDescriptionBytes, nullptr, true});
  gguf_context* out = library.gguf_init_empty();
  library.gguf_set_kv(out, in);
  for (int64_t i = 0; i < library.gguf_get_n_tensors(in); ++i) {
    ggml_tensor* tensor = library.ggml_get_tensor(sources, library.gguf_get_tensor_name(in, i));
    const bool is_matrix = library.ggml_n_dims(tensor) == 2;
    library.gguf_add_tensor(out, is_matrix ? converted(library, targets, tensor, type) : tensor);
  }
  if (!library.gguf_write_to_file(out, argv[3], false)) {
    fail(std::string(argv[3]) + ": cannot write");
  }
  return 0;
}
