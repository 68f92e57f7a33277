// llama.cpp's side of bench/accuracy.
//
//   llama_accuracy LIBRARY_FOLDER quantize IN OUT TYPE [pure]   its own quantizer; TYPE is a number
//                                                               of enum llama_ftype
//   llama_accuracy LIBRARY_FOLDER answers MODEL PROMPTS OUT MAX_TOKENS THREADS
//                                                               greedy answers to lines of ids
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "llama_library.h"
#include "token_texts.h"

namespace {

using parity::fail;
using parity::LlamaLibrary;

constexpr uint32_t kContext = 2048;

void quantize(const LlamaLibrary& library, int argc, char** argv) {
  llama_model_quantize_params params = library.llama_model_quantize_default_params();
  params.ftype = static_cast<llama_ftype>(std::atoi(argv[5]));
  params.nthread = 2;
  params.pure = argc > 6 && std::strcmp(argv[6], "pure") == 0;
  if (library.llama_model_quantize(argv[3], argv[4], &params) != 0) {
    fail(std::string(argv[3]) + ": llama.cpp does not quantize it");
  }
}

class Answerer {
 public:
  Answerer(const LlamaLibrary& library, const char* path, int n_threads) : library_(library) {
    model_ = library.llama_model_load_from_file(path, library.llama_model_default_params());
    if (model_ == nullptr) fail(std::string(path) + ": llama.cpp does not load it");
    llama_context_params params = library.llama_context_default_params();
    params.n_ctx = params.n_batch = params.n_ubatch = kContext;
    params.n_threads = params.n_threads_batch = n_threads;
    context_ = library.llama_init_from_model(model_, params);
    if (context_ == nullptr) fail(std::string(path) + ": llama.cpp made no context");
    vocab_ = library.llama_model_get_vocab(model_);
    batch_ = library.llama_batch_init(kContext, 0, 1);
  }

  std::vector<llama_token> answer(const std::vector<llama_token>& prompt, size_t max_tokens) {
    library_.llama_memory_clear(library_.llama_get_memory(context_), true);
    decode(prompt, 0);
    std::vector<llama_token> out;
    while (out.size() < max_tokens) {
      const llama_token token = best();
      if (library_.llama_vocab_is_eog(vocab_, token)) break;
      out.push_back(token);
      decode({token}, prompt.size() + out.size() - 1);
    }
    return out;
  }

 private:
  void decode(const std::vector<llama_token>& ids, size_t first_position) {
    batch_.n_tokens = static_cast<int32_t>(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      batch_.token[i] = ids[i];
      batch_.pos[i] = static_cast<llama_pos>(first_position + i);
      batch_.n_seq_id[i] = 1;
      batch_.seq_id[i][0] = 0;
      batch_.logits[i] = i + 1 == ids.size();
    }
    if (library_.llama_decode(context_, batch_) != 0) fail("llama_decode failed");
  }

  llama_token best() const {
    const float* logits = library_.llama_get_logits_ith(context_, -1);
    const int32_t n = library_.llama_vocab_n_tokens(vocab_);
    return static_cast<llama_token>(std::max_element(logits, logits + n) - logits);
  }

  const LlamaLibrary& library_;
  llama_model* model_;
  llama_context* context_;
  const llama_vocab* vocab_;
  llama_batch batch_;
};

void write_answers(const LlamaLibrary& library, char** argv) {
  const auto prompts = parity::read_token_texts(argv[4]);
  if (prompts.empty()) fail(std::string(argv[4]) + ": not lines of token ids");
  Answerer answerer(library, argv[3], std::atoi(argv[7]));
  std::ofstream out(argv[5]);
  for (const auto& prompt : prompts) {
    const auto answer = answerer.answer(prompt, std::strtoul(argv[6], nullptr, 10));
    for (size_t i = 0; i < answer.size(); ++i) out << (i == 0 ? "" : " ") << answer[i];
    out << "\n";
  }
  out.close();
  if (!out) fail(std::string(argv[5]) + ": cannot write");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[2] : "";
  if (command == "quantize" && (argc == 6 || argc == 7)) {
    quantize(parity::open_llama_library(argv[1]), argc, argv);
  } else if (command == "answers" && argc == 8) {
    write_answers(parity::open_llama_library(argv[1]), argv);
  } else {
    fail("usage: see the head of llama_accuracy.cc");
  }
  return 0;  // the process ends here; the libraries hold nothing that must be given back
}
