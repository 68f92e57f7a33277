// llama.cpp's side of bench/compare, with its prebuilt libraries opened at run time.
//   llama_speed LIBRARY_FOLDER MODEL [options of peer_speed.h]

#include "llama_library.h"
#include "peer_speed.h"

namespace {

class Llama final : public peer::Peer {
 public:
  Llama(const char* library_folder, const peer::Arguments& args)
      : library_(parity::open_llama_library(library_folder)) {
    llama_model* model = library_.llama_model_load_from_file(args.model.c_str(),
                                                             library_.llama_model_default_params());
    if (model == nullptr) peer::fail(args.model + ": llama.cpp does not load it");
    n_vocab_ = library_.llama_vocab_n_tokens(library_.llama_model_get_vocab(model));
    llama_context_params params = library_.llama_context_default_params();
    peer::set_context(params, args, attention_clock);
    params.kv_unified = true;
    params.flash_attn_type =
        args.flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    context_ = library_.llama_init_from_model(model, params);
    if (context_ == nullptr) peer::fail(args.model + ": llama.cpp made no context");
  }

  int n_vocab() const override { return n_vocab_; }
  llama_batch new_batch(int n_tokens, int n_sequences) override {
    return library_.llama_batch_init(n_tokens, 0, n_sequences);
  }
  void clear() override { library_.llama_memory_clear(library_.llama_get_memory(context_), true); }
  bool decode(llama_batch& batch) override { return library_.llama_decode(context_, batch) == 0; }
  const float* last_logits() override { return library_.llama_get_logits_ith(context_, -1); }

 private:
  parity::LlamaLibrary library_;
  llama_context* context_ = nullptr;
  int n_vocab_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const peer::Arguments args = peer::parse_arguments(argc, argv, 2);
  Llama llama(argv[1], args);
  peer::serve(llama, args.sequences);
  return 0;
}
