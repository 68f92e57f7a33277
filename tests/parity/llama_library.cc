// Opening llama.cpp's shared libraries.
#include "llama_library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace parity {
namespace {

// The package puts the release into the name: libllama.v0.5.0.so.
std::string find_library(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libllama.") && name.ends_with(".so")) return entry.path().string();
  }
  fail(folder + ": no libllama.*.so here");
}

template <class Function>
void load(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) fail(std::string("llama.cpp's library lacks ") + name);
}

void log_errors(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

}  // namespace

void fail(const std::string& message) {
  std::fprintf(stderr, "parity: %s\n", message.c_str());
  std::exit(1);
}

LlamaLibrary open_llama_library(const std::string& folder) {
  const std::string path = find_library(folder);
  // The lookup below also sees the libraries that this one needs, ggml's among them.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) fail(path + ": " + dlerror());
  LlamaLibrary library;
  load(handle, "ggml_backend_load_all_from_path", library.ggml_backend_load_all_from_path);
  load(handle, "ggml_get_type_traits", library.ggml_get_type_traits);
  load(handle, "ggml_quantize_chunk", library.ggml_quantize_chunk);
  load(handle, "ggml_type_name", library.ggml_type_name);
  load(handle, "ggml_init", library.ggml_init);
  load(handle, "ggml_new_tensor", library.ggml_new_tensor);
  load(handle, "ggml_set_name", library.ggml_set_name);
  load(handle, "ggml_get_tensor", library.ggml_get_tensor);
  load(handle, "ggml_nelements", library.ggml_nelements);
  load(handle, "ggml_nbytes", library.ggml_nbytes);
  load(handle, "ggml_n_dims", library.ggml_n_dims);
  load(handle, "ggml_row_size", library.ggml_row_size);
  load(handle, "ggml_blck_size", library.ggml_blck_size);
  load(handle, "gguf_init_from_file", library.gguf_init_from_file);
  load(handle, "gguf_init_empty", library.gguf_init_empty);
  load(handle, "gguf_get_n_tensors", library.gguf_get_n_tensors);
  load(handle, "gguf_get_tensor_name", library.gguf_get_tensor_name);
  load(handle, "gguf_set_kv", library.gguf_set_kv);
  load(handle, "gguf_add_tensor", library.gguf_add_tensor);
  load(handle, "gguf_write_to_file", library.gguf_write_to_file);
  load(handle, "llama_log_set", library.llama_log_set);
  load(handle, "llama_model_default_params", library.llama_model_default_params);
  load(handle, "llama_context_default_params", library.llama_context_default_params);
  load(handle, "llama_model_load_from_file", library.llama_model_load_from_file);
  load(handle, "llama_init_from_model", library.llama_init_from_model);
  load(handle, "llama_model_get_vocab", library.llama_model_get_vocab);
  load(handle, "llama_vocab_n_tokens", library.llama_vocab_n_tokens);
  load(handle, "llama_vocab_is_eog", library.llama_vocab_is_eog);
  load(handle, "llama_model_quantize_default_params", library.llama_model_quantize_default_params);
  load(handle, "llama_model_quantize", library.llama_model_quantize);
  load(handle, "llama_get_memory", library.llama_get_memory);
  load(handle, "llama_memory_clear", library.llama_memory_clear);
  load(handle, "llama_batch_init", library.llama_batch_init);
  load(handle, "llama_batch_free", library.llama_batch_free);
  load(handle, "llama_decode", library.llama_decode);
  load(handle, "llama_get_logits_ith", library.llama_get_logits_ith);
  library.llama_log_set(log_errors, nullptr);
  library.ggml_backend_load_all_from_path(folder.c_str());
  return library;
}

}  // namespace parity
