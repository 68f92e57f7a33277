// ik_llama.cpp's side of bench/compare, linked with the libraries of a checkout.
//   ik_llama_speed MODEL [options of peer_speed.h]

#include "peer_speed.h"

namespace {

void log_errors(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

class IkLlama final : public peer::Peer {
 public:
  explicit IkLlama(const peer::Arguments& args) {
    llama_log_set(log_errors, nullptr);
    llama_model_params model_params = llama_model_default_params();
    model_params.repack_tensors = args.repack;
    model_params.use_mmap = !args.repack;  // it repacks in place
    llama_model* model = llama_model_load_from_file(args.model.c_str(), model_params);
    if (model == nullptr) peer::fail(args.model + ": ik_llama.cpp does not load it");
    n_vocab_ = llama_vocab_n_tokens(llama_model_get_vocab(model));
    llama_context_params params = llama_context_default_params();
    peer::set_context(params, args, attention_clock);
    params.flash_attn = args.flash;
    context_ = llama_init_from_model(model, params);
    if (context_ == nullptr) peer::fail(args.model + ": ik_llama.cpp made no context");
  }

  int n_vocab() const override { return n_vocab_; }
  llama_batch new_batch(int n_tokens, int n_sequences) override {
    return llama_batch_init(n_tokens, 0, n_sequences);
  }
  void clear() override { llama_kv_cache_clear(context_); }
  bool decode(llama_batch& batch) override { return llama_decode(context_, batch) == 0; }
  const float* last_logits() override { return llama_get_logits_ith(context_, -1); }

 private:
  llama_context* context_ = nullptr;
  int n_vocab_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const peer::Arguments args = peer::parse_arguments(argc, argv, 1);
  IkLlama llama(args);
  peer::serve(llama, args.sequences);
  return 0;
}
