// Quantizes a model as llama.cpp's own users do, with llama_model_quantize.
//
//   llama_quantize LIBRARY_FOLDER IN.gguf OUT.gguf FTYPE [pure]
//
// FTYPE is llama.cpp's: q4_0, q4_k_m, q8_0. "pure" keeps every matrix in that type, the head too.
#include <cstring>
#include <string>

#include "llama_library.h"

namespace {

llama_ftype ftype_of(const std::string& name) {
  if (name == "q4_0") return LLAMA_FTYPE_MOSTLY_Q4_0;
  if (name == "q4_k_s") return LLAMA_FTYPE_MOSTLY_Q4_K_S;
  if (name == "q4_k_m") return LLAMA_FTYPE_MOSTLY_Q4_K_M;
  if (name == "q6_k") return LLAMA_FTYPE_MOSTLY_Q6_K;
  if (name == "q8_0") return LLAMA_FTYPE_MOSTLY_Q8_0;
  parity::fail(name + ": not a file type of this tool");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) parity::fail("usage: llama_quantize LIBRARY_FOLDER IN OUT FTYPE [pure]");
  const parity::LlamaLibrary library = parity::open_llama_library(argv[1]);
  llama_model_quantize_params params = library.llama_model_quantize_default_params();
  params.ftype = ftype_of(argv[4]);
  params.nthread = 2;
  params.pure = argc > 5 && std::strcmp(argv[5], "pure") == 0;
  if (library.llama_model_quantize(argv[2], argv[3], &params) != 0) {
    parity::fail(std::string(argv[2]) + ": llama.cpp cannot quantize it");
  }
  return 0;
}
