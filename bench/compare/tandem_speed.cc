// Tandem's side of bench/compare: loads a model once, then times what standard input asks for
// (serve_timings.h).
//   tandem_speed MODEL --threads N [--isa NAME] [--context N] [--sequences N] [--chunk N] [--kv q8]
//     [--compile-cache FOLDER]

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "device/cpu/cpu_device.h"
#include "engine/decode_batch.h"
#include "serve_timings.h"

namespace {

using namespace tandem;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "tandem_speed: %s\n", message.c_str());
  std::exit(1);
}

template <class T>
T value_or_fail(Result<T> result) {
  if (!result) fail(result.error().message);
  return std::move(*result);
}

void check(const Result<void>& result) {
  if (!result) fail(result.error().message);
}

class AttentionClock : public NodeObserver {
 public:
  void after_work(const Graph&, std::span<const Node* const> nodes, double start,
                  double end) override {
    if (!nodes.empty() && nodes[0]->op == Op::kAttention) seconds += end - start;
  }
  double seconds = 0;
};

class Runner {
 public:
  Runner(std::shared_ptr<Engine> engine, const AttentionClock& attention_clock)
      : engine_(std::move(engine)), attention_clock_(attention_clock), batch_(engine_) {
    session_ = value_or_fail(Session::create(engine_));
  }

  double prefill(int n_tokens) {
    session_->truncate(0);
    const double start = monotonic_seconds();
    append(*session_, n_tokens, 0);
    return monotonic_seconds() - start;
  }

  double attention(int n_tokens) {
    const double before = attention_clock_.seconds;
    prefill(n_tokens);
    return attention_clock_.seconds - before;
  }

  double decode(int n_tokens, int context) {
    session_->truncate(0);
    if (context > 0) append(*session_, context, 0);
    const double start = monotonic_seconds();
    for (int i = 0; i < n_tokens; ++i) append(*session_, 1, context + i);
    return monotonic_seconds() - start;
  }

  double batch(int n_sequences, int n_steps) {
    std::vector<std::unique_ptr<Session>> owners;
    std::vector<Session*> sessions;
    for (int s = 0; s < n_sequences; ++s) {
      owners.push_back(value_or_fail(Session::create(engine_)));
      append(*owners.back(), 16, 0);
      sessions.push_back(owners.back().get());
    }
    std::vector<TokenId> tokens(n_sequences);
    const double start = monotonic_seconds();
    for (int i = 0; i < n_steps; ++i) {
      for (int s = 0; s < n_sequences; ++s) tokens[s] = token(i + s);
      check(batch_.step(sessions, tokens));
    }
    return monotonic_seconds() - start;
  }

 private:
  TokenId token(int i) const {
    return static_cast<TokenId>((i * 7919ull + 13) % engine_->vocabulary());
  }

  void append(Session& session, int n_tokens, int position) {
    tokens_.resize(n_tokens);
    for (int i = 0; i < n_tokens; ++i) tokens_[i] = token(position + i);
    check(session.append(tokens_));
  }

  std::shared_ptr<Engine> engine_;
  const AttentionClock& attention_clock_;
  DecodeBatch batch_;
  std::unique_ptr<Session> session_;
  std::vector<TokenId> tokens_;
};

EngineOptions parse_options(int argc, char** argv) {
  EngineOptions options{.context = 4608};
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--threads") {
      options.n_threads = std::atoi(value.c_str());
    } else if (name == "--context") {
      options.context = static_cast<uint32_t>(std::atoi(value.c_str()));
    } else if (name == "--sequences") {
      options.max_sequences = static_cast<uint32_t>(std::atoi(value.c_str()));
    } else if (name == "--chunk") {
      options.prefill_chunk = static_cast<uint32_t>(std::atoi(value.c_str()));
    } else if (name == "--precision") {
      if (value == "int4") options.planes = WeightPlanes::kHigh;
    } else if (name == "--kv" && value == "q8") {
      options.kv_storage = kernels::KvStorage::kI8;
    } else if (name == "--compile-cache") {
      options.compile_cache = CompileCache::open(value);
    } else if (name == "--isa") {
      options.isa = value_or_fail(isa_from_name(value));
    } else {
      fail("unknown option " + name);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: tandem_speed MODEL [options]");
  EngineOptions options = parse_options(argc, argv);
  AttentionClock attention_clock;
  options.observer = &attention_clock;
  auto model = value_or_fail(Model::load(argv[1]));
  Runner runner(value_or_fail(Engine::create(std::move(model), options)), attention_clock);
  serve_timings(runner);
  return 0;
}
