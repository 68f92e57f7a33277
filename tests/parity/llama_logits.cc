// Writes llama.cpp's next-token logits for texts given as token ids, one text a line: raw f32, one
// row of n_vocab for every id. Each text starts at position 0 with an empty cache.
//
//   llama_logits LIBRARY_FOLDER MODEL.gguf TEXTS.txt OUT.f32
//                [--chunk N] [--context N] [--kv f16|f32] [--flash] [--threads N]
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

struct Arguments {
  std::string library_folder, model, texts, out;
  uint32_t chunk = 0;  ///< tokens handed over at once; 0 for a whole text
  uint32_t context = 256;
  int threads = 1;
  ggml_type kv_type = GGML_TYPE_F16;
  bool flash_attention = false;
};

Arguments parse_arguments(int argc, char** argv) {
  if (argc < 5) fail("usage: llama_logits LIBRARY_FOLDER MODEL TEXTS OUT [options]");
  Arguments args{.library_folder = argv[1], .model = argv[2], .texts = argv[3], .out = argv[4]};
  for (int i = 5; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--flash") {
      args.flash_attention = true;
      continue;
    }
    if (i + 1 == argc) fail(option + " needs a value");
    const char* value = argv[++i];
    if (option == "--chunk") {
      args.chunk = std::atoi(value);
    } else if (option == "--context") {
      args.context = std::atoi(value);
    } else if (option == "--threads") {
      args.threads = std::atoi(value);
    } else if (option == "--kv") {
      args.kv_type = std::strcmp(value, "f32") == 0 ? GGML_TYPE_F32 : GGML_TYPE_F16;
    } else {
      fail("unknown option " + option);
    }
  }
  return args;
}

llama_context* make_context(const LlamaLibrary& library, llama_model* model,
                            const Arguments& args) {
  llama_context_params params = library.llama_context_default_params();
  params.n_ctx = args.context;
  params.n_batch = args.context;
  params.n_ubatch = args.context;
  params.n_threads = params.n_threads_batch = args.threads;
  params.type_k = params.type_v = args.kv_type;
  params.flash_attn_type =
      args.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  llama_context* context = library.llama_init_from_model(model, params);
  if (context == nullptr) fail(args.model + ": llama.cpp made no context");
  return context;
}

void decode(const LlamaLibrary& library, llama_context* context, llama_batch& batch,
            const std::vector<llama_token>& ids, size_t begin, size_t end) {
  batch.n_tokens = static_cast<int32_t>(end - begin);
  for (size_t i = begin; i < end; ++i) {
    const size_t row = i - begin;
    batch.token[row] = ids[i];
    batch.pos[row] = static_cast<llama_pos>(i);
    batch.n_seq_id[row] = 1;
    batch.seq_id[row][0] = 0;
    batch.logits[row] = 1;
  }
  if (library.llama_decode(context, batch) != 0) fail("llama_decode failed");
}

void write_logits(const LlamaLibrary& library, llama_context* context,
                  const std::vector<llama_token>& ids, size_t chunk, size_t n_vocab,
                  std::ofstream& out) {
  llama_batch batch = library.llama_batch_init(static_cast<int32_t>(chunk), 0, 1);
  library.llama_memory_clear(library.llama_get_memory(context), true);
  for (size_t begin = 0; begin < ids.size(); begin += chunk) {
    const size_t end = std::min(begin + chunk, ids.size());
    decode(library, context, batch, ids, begin, end);
    for (size_t row = 0; row < end - begin; ++row) {
      const float* logits = library.llama_get_logits_ith(context, static_cast<int32_t>(row));
      out.write(reinterpret_cast<const char*>(logits), n_vocab * sizeof(float));
    }
  }
  library.llama_batch_free(batch);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments args = parse_arguments(argc, argv);
  const std::vector<std::vector<llama_token>> texts = parity::read_token_texts(args.texts);
  if (texts.empty()) fail(args.texts + ": not lines of token ids");
  const LlamaLibrary library = parity::open_llama_library(args.library_folder);
  llama_model* model =
      library.llama_model_load_from_file(args.model.c_str(), library.llama_model_default_params());
  if (model == nullptr) fail(args.model + ": llama.cpp does not load it");
  llama_context* context = make_context(library, model, args);
  const size_t n_vocab = library.llama_vocab_n_tokens(library.llama_model_get_vocab(model));
  std::ofstream out(args.out, std::ios::binary);
  for (const std::vector<llama_token>& ids : texts) {
    write_logits(library, context, ids, args.chunk == 0 ? ids.size() : args.chunk, n_vocab, out);
  }
  out.close();
  if (!out) fail(args.out + ": cannot write");
  return 0;  // the process ends here; the libraries hold nothing that must be given back
}
