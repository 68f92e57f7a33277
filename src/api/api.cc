// The C++ interface over the engine.

#include <algorithm>

#include "device/cpu/cpu_device.h"
#include "engine/conversation.h"
#include "engine/precision.h"
#include "tandem/tandem.hpp"

namespace tandem::api {
namespace {

Error to_error(const tandem::Error& error) { return {to_string(error.code), error.message}; }

Outcome<Done> to_outcome(const Result<void>& result) {
  if (!result) return to_error(result.error());
  return Done{};
}

tandem::SamplingOptions sampling_options(const GenerationOptions& options) {
  tandem::SamplingOptions out;
  out.temperature = options.temperature;
  out.top_k = options.top_k;
  out.top_p = options.top_p;
  out.min_p = options.min_p;
  out.repeat_penalty = options.repeat_penalty;
  out.seed = options.seed;
  return out;
}

tandem::GenerationOptions generation_options(const GenerationOptions& options) {
  tandem::GenerationOptions out;
  out.max_tokens = options.max_tokens;
  out.stop = options.stop;
  return out;
}

Result<std::shared_ptr<Engine>> open_engine(const std::string& path, const ModelOptions& options) {
  EngineOptions engine_options{.context = options.context,
                               .n_threads = options.threads,
                               .prefill_chunk = options.prefill_chunk,
                               .compile_cache = CompileCache::open(options.compile_cache),
                               .check_finite = options.check_finite};
  if (!options.isa.empty()) {
    TANDEM_TRY(engine_options.isa, isa_from_name(options.isa));
  }
  tandem::ModelOptions model_options;
  if (options.precision == "int4") model_options.missing_planes = MissingPlanes::kAccept;
  TANDEM_TRY(auto model, tandem::Model::load(path, model_options));
  TANDEM_TRY(engine_options.planes, choose_planes(options.precision, *model));
  return Engine::create(std::move(model), engine_options);
}

}  // namespace

struct Model::Impl {
  std::shared_ptr<Engine> engine;
};

/// A plain session until the first ask, then a conversation that owns it.
struct Session::Impl {
  std::shared_ptr<Engine> engine;
  std::unique_ptr<tandem::Session> plain;
  std::optional<Conversation> conversation;

  tandem::Session& session() { return conversation ? conversation->session() : *plain; }

  Outcome<Reply> generate(
      const GenerationOptions& options, const TextCallback& on_text,
      const std::function<Result<GenerationResult>(Sampler&, const GenerationObserver&)>& run) {
    auto sampler =
        Sampler::create(sampling_options(options), static_cast<int32_t>(engine->vocabulary()),
                        static_cast<int32_t>(engine->context()));
    if (!sampler) return to_error(sampler.error());
    GenerationObserver observer;
    observer.on_token = [&](const SampledToken&, std::string_view text) {
      if (on_text && !text.empty() && !on_text(text)) session().cancel();
    };
    observer.on_held_text = [&](std::string_view text) {
      if (on_text) on_text(text);
    };
    auto result = run(*sampler, observer);
    if (!result) return to_error(result.error());
    return Reply{.text = std::move(result->text),
                 .finish_reason = to_string(result->finish_reason),
                 .tokens = std::move(result->tokens),
                 .prompt_tokens = result->n_prompt,
                 .prompt_seconds = result->prompt_seconds,
                 .decode_seconds = result->decode_seconds,
                 .seed = sampler->seed()};
  }
};

Outcome<Model> Model::load(const std::string& path, const ModelOptions& options) {
  auto engine = open_engine(path, options);
  if (!engine) return to_error(engine.error());
  return Model(std::make_shared<Impl>(Impl{std::move(*engine)}));
}

std::string Model::architecture() const {
  return impl_->engine->model().hyperparameters().architecture;
}

std::string Model::name() const {
  return impl_->engine->model().metadata().string_or("general.name", "").value_or("");
}

uint32_t Model::vocabulary() const { return impl_->engine->vocabulary(); }

uint32_t Model::context() const { return impl_->engine->context(); }

Outcome<std::vector<int32_t>> Model::tokenize(std::string_view text, bool parse_special) const {
  const Tokenizer* tokenizer = impl_->engine->model().tokenizer();
  if (tokenizer == nullptr) return Error{"unsupported", "the model has no tokenizer"};
  auto tokens = tokenizer->encode(text, {.add_special = true, .parse_special = parse_special});
  if (!tokens) return to_error(tokens.error());
  return std::move(*tokens);
}

std::string Model::detokenize(std::span<const int32_t> tokens) const {
  const Tokenizer* tokenizer = impl_->engine->model().tokenizer();
  return tokenizer == nullptr ? "" : tokenizer->decode(tokens);
}

Outcome<Session> Model::create_session() const {
  auto session = tandem::Session::create(impl_->engine);
  if (!session) return to_error(session.error());
  auto impl = std::make_unique<Session::Impl>();
  impl->engine = impl_->engine;
  impl->plain = std::move(*session);
  return Session(std::move(impl));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Outcome<Reply> Session::ask(const std::string& message, const GenerationOptions& options,
                            const TextCallback& on_text) {
  if (!impl_->conversation) {
    auto conversation = Conversation::create(std::move(impl_->plain), {});
    if (!conversation) return to_error(conversation.error());
    impl_->conversation.emplace(std::move(*conversation));
  }
  return impl_->generate(options, on_text, [&](Sampler& sampler, const GenerationObserver& watch) {
    return impl_->conversation->ask(message, sampler, generation_options(options), watch);
  });
}

Outcome<Reply> Session::complete(std::string_view text, const GenerationOptions& options,
                                 const TextCallback& on_text) {
  const Tokenizer* tokenizer = impl_->engine->model().tokenizer();
  if (tokenizer == nullptr) return Error{"unsupported", "the model has no tokenizer"};
  const bool is_start = impl_->session().n_tokens() == 0;
  const auto tokens = tokenizer->encode(text, {.add_special = is_start});
  if (!tokens) return to_error(tokens.error());
  return impl_->generate(options, on_text, [&](Sampler& sampler, const GenerationObserver& watch) {
    return tandem::generate(impl_->session(), sampler, *tokens, generation_options(options), watch);
  });
}

Outcome<Done> Session::append(std::span<const int32_t> tokens) {
  return to_outcome(impl_->session().append(tokens));
}

Outcome<Done> Session::append(std::span<const int32_t> tokens, const LogitsCallback& visit) {
  return to_outcome(impl_->session().append_visiting_logits(
      tokens, [&](size_t index, std::span<const float> logits) -> Result<void> {
        visit(index, logits);
        return {};
      }));
}

std::span<const float> Session::logits() const { return impl_->session().logits(); }

uint32_t Session::n_tokens() const { return impl_->session().n_tokens(); }

void Session::truncate(uint32_t n) {
  impl_->session().truncate(std::min(n, impl_->session().n_tokens()));
}

void Session::cancel() { impl_->session().cancel(); }

Outcome<Done> Session::save(const std::string& path) const {
  return to_outcome(impl_->session().save(path));
}

Outcome<Done> Session::load(const std::string& path) {
  return to_outcome(impl_->session().load(path));
}

std::string version() { return TANDEM_VERSION; }

}  // namespace tandem::api
