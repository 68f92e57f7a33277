#pragma once

#include <ggml-backend.h>
#include <ggml.h>
#include <gguf.h>
#include <llama.h>

#include <string>

namespace parity {

/// Says what went wrong on stderr and ends the program: these are tools of one step.
[[noreturn]] void fail(const std::string& message);

/// The functions of llama.cpp's prebuilt shared libraries that the parity tools call, opened at run
/// time so that nothing of Tandem's build depends on them. Lives until the program ends.
struct LlamaLibrary {
  decltype(&::ggml_backend_load_all_from_path) ggml_backend_load_all_from_path;
  decltype(&::ggml_get_type_traits) ggml_get_type_traits;
  decltype(&::ggml_quantize_chunk) ggml_quantize_chunk;
  decltype(&::ggml_type_name) ggml_type_name;
  decltype(&::ggml_init) ggml_init;
  decltype(&::ggml_new_tensor) ggml_new_tensor;
  decltype(&::ggml_set_name) ggml_set_name;
  decltype(&::ggml_get_tensor) ggml_get_tensor;
  decltype(&::ggml_nelements) ggml_nelements;
  decltype(&::ggml_nbytes) ggml_nbytes;
  decltype(&::ggml_n_dims) ggml_n_dims;
  decltype(&::ggml_row_size) ggml_row_size;
  decltype(&::ggml_blck_size) ggml_blck_size;
  decltype(&::gguf_init_from_file) gguf_init_from_file;
  decltype(&::gguf_init_empty) gguf_init_empty;
  decltype(&::gguf_get_n_tensors) gguf_get_n_tensors;
  decltype(&::gguf_get_tensor_name) gguf_get_tensor_name;
  decltype(&::gguf_set_kv) gguf_set_kv;
  decltype(&::gguf_add_tensor) gguf_add_tensor;
  decltype(&::gguf_write_to_file) gguf_write_to_file;
  decltype(&::llama_log_set) llama_log_set;
  decltype(&::llama_model_default_params) llama_model_default_params;
  decltype(&::llama_context_default_params) llama_context_default_params;
  decltype(&::llama_model_load_from_file) llama_model_load_from_file;
  decltype(&::llama_init_from_model) llama_init_from_model;
  decltype(&::llama_model_get_vocab) llama_model_get_vocab;
  decltype(&::llama_vocab_n_tokens) llama_vocab_n_tokens;
  decltype(&::llama_vocab_is_eog) llama_vocab_is_eog;
  decltype(&::llama_model_quantize_default_params) llama_model_quantize_default_params;
  decltype(&::llama_model_quantize) llama_model_quantize;
  decltype(&::llama_get_memory) llama_get_memory;
  decltype(&::llama_memory_clear) llama_memory_clear;
  decltype(&::llama_batch_init) llama_batch_init;
  decltype(&::llama_batch_free) llama_batch_free;
  decltype(&::llama_decode) llama_decode;
  decltype(&::llama_get_logits_ith) llama_get_logits_ith;
};

/// Opens the libllama*.so of `folder` and lets it choose the processor backend that lies beside it.
LlamaLibrary open_llama_library(const std::string& folder);

}  // namespace parity
