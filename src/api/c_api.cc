// The C interface over the C++ one.

#include <algorithm>
#include <cstring>

#include "tandem/tandem.h"
#include "tandem/tandem.hpp"

struct tandem_model {
  tandem::api::Model model;
};
struct tandem_session {
  tandem::api::Session session;
};

namespace {

using tandem::api::Error;
using tandem::api::Outcome;

std::string& last_error() {
  thread_local std::string message;
  return message;
}

int fail(const Error& error) {
  last_error() = error.code + ": " + error.message;
  return -1;
}

template <class T>
int finish(const Outcome<T>& outcome) {
  return outcome ? 0 : fail(outcome.error());
}

tandem::api::GenerationOptions generation_options(const tandem_generation_options* options) {
  tandem::api::GenerationOptions out;
  if (options == nullptr) return out;
  out.max_tokens = options->max_tokens;
  out.temperature = options->temperature;
  out.top_k = options->top_k;
  out.top_p = options->top_p;
  out.min_p = options->min_p;
  out.repeat_penalty = options->repeat_penalty;
  if (options->has_seed) out.seed = options->seed;
  return out;
}

tandem::api::TextCallback text_callback(tandem_text_callback on_text, void* user) {
  if (on_text == nullptr) return {};
  return [=](std::string_view text) { return on_text(text.data(), text.size(), user); };
}

}  // namespace

const char* tandem_version(void) {
  static const std::string text = tandem::api::version();
  return text.c_str();
}

const char* tandem_last_error(void) { return last_error().c_str(); }

tandem_generation_options tandem_default_generation_options(void) {
  const tandem::api::GenerationOptions d;
  return {d.max_tokens, d.temperature, d.top_k, d.top_p, d.min_p, d.repeat_penalty, false, 0};
}

int tandem_model_load(const char* path, const tandem_model_options* options, tandem_model** model) {
  tandem::api::ModelOptions chosen;
  if (options != nullptr) {
    chosen.context = options->context;
    chosen.threads = options->threads;
    if (options->isa != nullptr) chosen.isa = options->isa;
    if (options->prefill_chunk != 0) chosen.prefill_chunk = options->prefill_chunk;
    chosen.check_finite = options->check_finite;
    if (options->precision != nullptr) chosen.precision = options->precision;
    if (options->compile_cache != nullptr) chosen.compile_cache = options->compile_cache;
  }
  auto loaded = tandem::api::Model::load(path, chosen);
  if (!loaded) return fail(loaded.error());
  *model = new tandem_model{std::move(*loaded)};
  return 0;
}

void tandem_model_free(tandem_model* model) { delete model; }

uint32_t tandem_model_vocabulary(const tandem_model* model) { return model->model.vocabulary(); }

uint32_t tandem_model_context(const tandem_model* model) { return model->model.context(); }

int64_t tandem_tokenize(const tandem_model* model, const char* text, size_t n_bytes,
                        bool parse_special, int32_t* tokens, size_t capacity) {
  auto ids = model->model.tokenize({text, n_bytes}, parse_special);
  if (!ids) return fail(ids.error());
  std::copy_n(ids->begin(), std::min(capacity, ids->size()), tokens);
  return static_cast<int64_t>(ids->size());
}

int64_t tandem_detokenize(const tandem_model* model, const int32_t* tokens, size_t n, char* text,
                          size_t capacity) {
  const std::string decoded = model->model.detokenize({tokens, n});
  std::memcpy(text, decoded.data(), std::min(capacity, decoded.size()));
  return static_cast<int64_t>(decoded.size());
}

int tandem_session_create(const tandem_model* model, tandem_session** session) {
  auto created = model->model.create_session();
  if (!created) return fail(created.error());
  *session = new tandem_session{std::move(*created)};
  return 0;
}

void tandem_session_free(tandem_session* session) { delete session; }

int tandem_session_ask(tandem_session* session, const char* message,
                       const tandem_generation_options* options, tandem_text_callback on_text,
                       void* user) {
  return finish(
      session->session.ask(message, generation_options(options), text_callback(on_text, user)));
}

int tandem_session_complete(tandem_session* session, const char* text,
                            const tandem_generation_options* options, tandem_text_callback on_text,
                            void* user) {
  return finish(
      session->session.complete(text, generation_options(options), text_callback(on_text, user)));
}

int tandem_session_append(tandem_session* session, const int32_t* tokens, size_t n) {
  return finish(session->session.append({tokens, n}));
}

int tandem_session_append_visiting(tandem_session* session, const int32_t* tokens, size_t n,
                                   tandem_logits_callback visit, void* user) {
  return finish(session->session.append({tokens, n}, [=](size_t index, std::span<const float> row) {
    visit(index, row.data(), row.size(), user);
  }));
}

const float* tandem_session_logits(const tandem_session* session) {
  return session->session.logits().data();
}

uint32_t tandem_session_n_tokens(const tandem_session* session) {
  return session->session.n_tokens();
}

void tandem_session_truncate(tandem_session* session, uint32_t n) { session->session.truncate(n); }

void tandem_session_cancel(tandem_session* session) { session->session.cancel(); }

int tandem_session_save(const tandem_session* session, const char* path) {
  return finish(session->session.save(path));
}

int tandem_session_load(tandem_session* session, const char* path) {
  return finish(session->session.load(path));
}
