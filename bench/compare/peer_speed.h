#pragma once

#include <llama.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve_timings.h"

// What the peers' sides of bench/compare share: llama.cpp and its forks take the same batches. A
// program of one step: errors end it.

namespace peer {

struct Arguments {
  std::string model;
  int threads = 2, context = 4608, sequences = 8;
  bool flash = false, q8_cache = false, repack = false, times_attention = false;
};

[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

/// Reads "MODEL --threads N [--flash] [--q8-cache] [--repack] [--time-attention] [--context N]
/// [--sequences N]" from argument `first` on.
inline Arguments parse_arguments(int argc, char** argv, int first) {
  if (argc <= first) fail("usage: [LIBRARY_FOLDER] MODEL [options]");
  Arguments args;
  args.model = argv[first];
  for (int i = first + 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--flash") {
      args.flash = true;
    } else if (option == "--repack") {
      args.repack = true;
    } else if (option == "--time-attention") {
      args.times_attention = true;
    } else if (option == "--q8-cache") {
      args.flash = args.q8_cache = true;  // values are coded with flash attention only
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

inline double now() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(t).count();
}

/// Adds up what attention takes. The peer calls on_tensor before it computes a tensor, with
/// `before`, and after; one that was asked for is computed by itself.
struct AttentionClock {
  double seconds = 0, start = 0;

  static bool on_tensor(ggml_tensor* tensor, bool before, void* clock) {
    auto& self = *static_cast<AttentionClock*>(clock);
    if (before) {
      self.start = now();
    } else if (is_attention(*tensor)) {
      self.seconds += now() - self.start;
    }
    return true;
  }

 private:
  /// One op with flash attention; without, "kq", "kq_soft_max", "kqv" and "kqv_out" of each layer.
  static bool is_attention(const ggml_tensor& tensor) {
    return tensor.op == GGML_OP_FLASH_ATTN_EXT || std::string_view(tensor.name).starts_with("kq");
  }
};

/// What all variants set alike: batches as the peer's own benchmark has them. `clock` outlives the
/// context.
inline void set_context(llama_context_params& params, const Arguments& args,
                        AttentionClock& clock) {
  params.n_ctx = args.context;
  params.n_batch = 2048;
  params.n_ubatch = 512;
  params.n_seq_max = args.sequences;
  params.n_threads = params.n_threads_batch = args.threads;
  if (args.times_attention) {
    params.cb_eval = AttentionClock::on_tensor;
    params.cb_eval_user_data = &clock;
  }
  if (args.q8_cache) params.type_k = params.type_v = GGML_TYPE_Q8_0;
}

/// A loaded model with one context.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual int n_vocab() const = 0;
  virtual llama_batch new_batch(int n_tokens, int n_sequences) = 0;
  /// Forgets every sequence.
  virtual void clear() = 0;
  /// Whether the batch was computed.
  virtual bool decode(llama_batch& batch) = 0;
  /// Of the batch's last row; waits for it.
  virtual const float* last_logits() = 0;

  AttentionClock attention_clock;
};

/// Times what is asked for; results in seconds.
class Runner {
 public:
  Runner(Peer& peer, int n_sequences)
      : peer_(peer), batch_(peer.new_batch(2048, n_sequences)), n_vocab_(peer.n_vocab()) {}

  double prefill(int n_tokens) {
    peer_.clear();
    const double start = now();
    append(n_tokens, 0);
    return now() - start;
  }

  double attention(int n_tokens) {
    const double before = peer_.attention_clock.seconds;
    prefill(n_tokens);
    return peer_.attention_clock.seconds - before;
  }

  double decode(int n_tokens, int context) {
    peer_.clear();
    if (context > 0) append(context, 0);
    const double start = now();
    for (int i = 0; i < n_tokens; ++i) append(1, context + i);
    return now() - start;
  }

  double batch(int n_sequences, int n_steps) {
    peer_.clear();
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

  void add(llama_token id, int position, int sequence, bool wants_logits) {
    const int row = batch_.n_tokens++;
    batch_.token[row] = id;
    batch_.pos[row] = position;
    batch_.n_seq_id[row] = 1;
    batch_.seq_id[row][0] = sequence;
    batch_.logits[row] = wants_logits;
  }

  void run() {
    if (!peer_.decode(batch_)) fail("decoding a batch failed");
    sink_ = peer_.last_logits()[0];
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

  Peer& peer_;
  llama_batch batch_;
  int n_vocab_;
  volatile float sink_ = 0;
};

/// Times `peer` as standard input asks.
inline void serve(Peer& peer, int n_sequences) {
  Runner runner(peer, n_sequences);
  serve_timings(runner);
}

}  // namespace peer
