// llama.cpp's side of bench/compare: loads a model once, then times what standard input asks for.
//   llama_speed LIBRARY_FOLDER MODEL --threads N [--flash] [--q8-cache] [--context N] [--sequences
//   N]
// Lines in: "prefill N", "decode N CONTEXT", "batch SEQUENCES N"; a line of seconds out for each.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "llama_library.h"

namespace {

using parity::fail;
using parity::LlamaLibrary;

struct Arguments {
  std::string library_folder, model;
  int threads = 2, context = 4608, sequences = 8;
  bool flash = false, q8_cache = false;
};

Arguments parse_arguments(int argc, char** argv) {
  if (argc < 3) fail("usage: llama_speed LIBRARY_FOLDER MODEL [options]");
  Arguments args;
  args.library_folder = argv[1];
  args.model = argv[2];
  for (int i = 3; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--flash") {
      args.flash = true;
    } else if (option == "--q8-cache") {
      args.flash = args.q8_cache = true;  // it codes values with flash attention only
    } else if (i + 1 < argc && option == "--threads") {
      args.threads = std::atoi(argv[++i]);
    } else if (i + 1 < argc && option == "--context") {
      args.context = std::atoi(argv[++i]);
    } else if (i + 1 < argc && option == "--sequences") {
      args.sequences = std::atoi(argv[++i]);
    } else {
      fail("unknown option " + option);
    }
  }
  return args;
}

double now() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(t).count();
}

class Runner {
 public:
  explicit Runner(const Arguments& args)
      : library_(parity::open_llama_library(args.library_folder)) {
    llama_model* model = library_.llama_model_load_from_file(args.model.c_str(),
                                                             library_.llama_model_default_params());
    if (model == nullptr) fail(args.model + ": llama.cpp does not load it");
    n_vocab_ = library_.llama_vocab_n_tokens(library_.llama_model_get_vocab(model));
    llama_context_params params = library_.llama_context_default_params();
    params.n_ctx = args.context;
    params.n_batch = 2048;
    params.n_ubatch = 512;
    params.n_seq_max = args.sequences;
    params.kv_unified = true;
    params.n_threads = params.n_threads_batch = args.threads;
    params.flash_attn_type =
        args.flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    if (args.q8_cache) params.type_k = params.type_v = GGML_TYPE_Q8_0;
    context_ = library_.llama_init_from_model(model, params);
    if (context_ == nullptr) fail(args.model + ": llama.cpp made no context");
    batch_ = library_.llama_batch_init(2048, 0, args.sequences);
  }

  double prefill(int n_tokens) {
    clear();
    const double start = now();
    append(n_tokens, 0);
    return now() - start;
  }

  double decode(int n_tokens, int context) {
    clear();
    if (context > 0) append(context, 0);
    const double start = now();
    for (int i = 0; i < n_tokens; ++i) append(1, context + i);
    return now() - start;
  }

  double batch(int n_sequences, int n_steps) {
    clear();
    for (int s = 0; s < n_sequences; ++s) step_sequence(s, 16);
    const double start = now();
    for (int i = 0; i < n_steps; ++i) {
      batch_.n_tokens = 0;
      for (int s = 0; s < n_sequences; ++s) add(token(i + s), 16 + i, s, true);
      run();
    }
    return now() - start;
  }

 private:
  llama_token token(int i) const { return (i * 7919 + 13) % n_vocab_; }

  void clear() { library_.llama_memory_clear(library_.llama_get_memory(context_), true); }

  void add(llama_token id, int position, int sequence, bool wants_logits) {
    const int row = batch_.n_tokens++;
    batch_.token[row] = id;
    batch_.pos[row] = position;
    batch_.n_seq_id[row] = 1;
    batch_.seq_id[row][0] = sequence;
    batch_.logits[row] = wants_logits;
  }

  void run() {
    if (library_.llama_decode(context_, batch_) != 0) fail("llama_decode failed");
    sink_ = library_.llama_get_logits_ith(context_, -1)[0];  // waits for the result
  }

  void append(int n_tokens, int position) {
    for (int done = 0; done < n_tokens;) {
      batch_.n_tokens = 0;
      const int end = std::min(n_tokens, done + 2048);
      for (; done < end; ++done) add(token(position + done), position + done, 0, done + 1 == end);
      run();
    }
  }

  void step_sequence(int sequence, int n_tokens) {
    batch_.n_tokens = 0;
    for (int i = 0; i < n_tokens; ++i) add(token(i), i, sequence, i + 1 == n_tokens);
    run();
  }

  LlamaLibrary library_;
  llama_context* context_ = nullptr;
  llama_batch batch_;
  int n_vocab_ = 0;
  volatile float sink_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Runner runner(parse_arguments(argc, argv));
  runner.prefill(8);
  std::printf("ready\n");
  std::fflush(stdout);
  for (std::string what; std::cin >> what;) {
    int a = 0, b = 0;
    std::cin >> a;
    double seconds = 0;
    if (what == "prefill") seconds = runner.prefill(a);
    if (what == "decode" && std::cin >> b) seconds = runner.decode(a, b);
    if (what == "batch" && std::cin >> b) seconds = runner.batch(a, b);
    std::printf("%.9f\n", seconds);
    std::fflush(stdout);
  }
  return 0;
}
