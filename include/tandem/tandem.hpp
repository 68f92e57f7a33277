#pragma once

/// Tandem's C++ interface: load a model, hold conversations, generate text.
///
///   auto model = tandem::api::Model::load("model.gguf");
///   if (!model) return fail(model.error().message);
///   auto session = model->create_session();
///   auto reply = session->ask("What is the opposite of cold?", {.max_tokens = 64},
///                             [](std::string_view text) { std::cout << text; return true; });
///
/// Nothing here throws; a function that can fail returns an Outcome. A Model may be shared by
/// threads; a Session belongs to one thread at a time, Session::cancel excepted.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tandem::api {

/// An expected failure: a code such as "corrupt_file" or "context_full" for programs, a message
/// with subject, place, value and limit for people.
struct Error {
  std::string code;
  std::string message;
};

/// A value or an Error.
template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return content_.index() == 0; }
  /// Only when true.
  T& operator*() { return *std::get_if<0>(&content_); }
  T* operator->() { return std::get_if<0>(&content_); }
  /// Only when false.
  const Error& error() const { return *std::get_if<1>(&content_); }

 private:
  std::variant<T, Error> content_;
};

/// The value of an Outcome that carries none.
struct Done {};

struct ModelOptions {
  uint32_t context = 0;          ///< positions of a session; 0: the model's, at most 32768
  int threads = 0;               ///< compute threads; 0: all processors
  std::string isa;               ///< forces kernels, as --isa of the command; empty: best
  uint32_t prefill_chunk = 256;  ///< prompt tokens computed together
  bool check_finite = false;     ///< stop at the first NaN or infinity, naming the layer
  std::string precision = {};    ///< of nested files: "int4", "int8"; empty: what the file holds
  /// Folder that keeps packed weights between runs, as large as the model, for quick starts; empty:
  /// none. What does not fit the model, or is damaged, is made again.
  std::string compile_cache = {};
};

struct GenerationOptions {
  int32_t max_tokens = -1;        ///< -1: until the model ends or the context is full
  float temperature = 0.8f;       ///< 0: always the most likely token
  int32_t top_k = 40;             ///< 0: off
  float top_p = 0.95f;            ///< 1: off
  float min_p = 0.05f;            ///< 0: off
  float repeat_penalty = 1.0f;    ///< 1: off
  std::optional<uint64_t> seed;   ///< unset: random
  std::vector<std::string> stop;  ///< texts that end the reply
};

struct Reply {
  std::string text;
  std::string finish_reason;  ///< "stop", "length" or "cancelled"
  std::vector<int32_t> tokens;
  uint32_t prompt_tokens = 0;  ///< computed anew for this reply
  double prompt_seconds = 0;
  double decode_seconds = 0;
  uint64_t seed = 0;
};

/// Gets text as it is generated; returning false stops the generation.
using TextCallback = std::function<bool(std::string_view text)>;

class Session;

/// A loaded model, compiled for this machine. Copies share it.
class Model {
 public:
  static Outcome<Model> load(const std::string& path, const ModelOptions& options = {});

  std::string architecture() const;
  std::string name() const;
  uint32_t vocabulary() const;
  uint32_t context() const;

  /// `parse_special`: control tokens written in the text become tokens.
  Outcome<std::vector<int32_t>> tokenize(std::string_view text, bool parse_special = false) const;
  std::string detokenize(std::span<const int32_t> tokens) const;

  Outcome<Session> create_session() const;

  struct Impl;
  explicit Model(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

/// One conversation: messages, tokens and their cache.
class Session {
 public:
  /// Adds a user message and generates the assistant's with the model's chat template.
  Outcome<Reply> ask(const std::string& message, const GenerationOptions& options = {},
                     const TextCallback& on_text = {});

  /// Continues the text as it is, after all tokens so far, without a template.
  Outcome<Reply> complete(std::string_view text, const GenerationOptions& options = {},
                          const TextCallback& on_text = {});

  /// Computes tokens; logits() then belong to the last of them.
  Outcome<Done> append(std::span<const int32_t> tokens);
  /// As append; visits the logits after each token. They are valid during the call.
  using LogitsCallback = std::function<void(size_t index, std::span<const float> logits)>;
  Outcome<Done> append(std::span<const int32_t> tokens, const LogitsCallback& visit);
  std::span<const float> logits() const;

  uint32_t n_tokens() const;
  /// Keeps the first `n` tokens; an `n` beyond their number changes nothing.
  void truncate(uint32_t n);
  /// Stops a generation from any thread.
  void cancel();

  /// Tokens and cache, checksummed and bound to the model.
  Outcome<Done> save(const std::string& path) const;
  Outcome<Done> load(const std::string& path);

  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

 private:
  std::unique_ptr<Impl> impl_;
};

/// "0.1.0"
std::string version();

}  // namespace tandem::api
