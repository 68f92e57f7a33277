// Writes Tandem's next-token logits for texts given as token ids, one text a line: raw f32, one row
// of n_vocab for every id, as llama_logits does with llama.cpp. Uses the public C interface only.
//
//   tandem_logits MODEL.gguf TEXTS.txt OUT.f32
//                 [--chunk N] [--context N] [--threads N] [--isa NAME]
//                 [--precision int4|int8]
#include <tandem/tandem.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "token_texts.h"

namespace {

struct Arguments {
  std::string model, texts, out, isa, precision;
  size_t chunk = 0;  ///< tokens handed over at once; 0 for a whole text
  uint32_t context = 256;
  int threads = 1;
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "tandem_logits: %s\n", message.c_str());
  std::exit(1);
}

void check(int status) {
  if (status != 0) fail(tandem_last_error());
}

Arguments parse_arguments(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) fail("usage: tandem_logits MODEL TEXTS OUT [options]");
  Arguments args;
  args.model = argv[1];
  args.texts = argv[2];
  args.out = argv[3];
  for (int i = 4; i < argc; i += 2) {
    const std::string option = argv[i];
    const char* value = argv[i + 1];
    if (option == "--chunk") {
      args.chunk = std::strtoul(value, nullptr, 10);
    } else if (option == "--context") {
      args.context = std::strtoul(value, nullptr, 10);
    } else if (option == "--threads") {
      args.threads = std::atoi(value);
    } else if (option == "--isa") {
      args.isa = value;
    } else if (option == "--precision") {
      args.precision = value;
    } else {
      fail("unknown option " + option);
    }
  }
  return args;
}

void write_logits(size_t, const float* logits, size_t n, void* user) {
  auto& out = *static_cast<std::ofstream*>(user);
  out.write(reinterpret_cast<const char*>(logits), static_cast<std::streamsize>(n * sizeof(float)));
}

void run_text(const tandem_model* model, const std::vector<int32_t>& ids, size_t chunk,
              std::ofstream& out) {
  tandem_session* session = nullptr;
  check(tandem_session_create(model, &session));
  for (size_t begin = 0; begin < ids.size(); begin += chunk) {
    const size_t n = std::min(chunk, ids.size() - begin);
    check(tandem_session_append_visiting(session, ids.data() + begin, n, write_logits, &out));
  }
  tandem_session_free(session);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments args = parse_arguments(argc, argv);
  const auto texts = parity::read_token_texts(args.texts);
  if (texts.empty()) fail(args.texts + ": not lines of token ids");
  tandem_model_options options = {};
  options.context = args.context;
  options.threads = args.threads;
  options.isa = args.isa.empty() ? nullptr : args.isa.c_str();
  options.precision = args.precision.empty() ? nullptr : args.precision.c_str();
  tandem_model* model = nullptr;
  check(tandem_model_load(args.model.c_str(), &options, &model));
  std::ofstream out(args.out, std::ios::binary);
  for (const auto& ids : texts) run_text(model, ids, args.chunk ? args.chunk : ids.size(), out);
  tandem_model_free(model);
  out.close();
  if (!out) fail(args.out + ": cannot write");
  return 0;
}
