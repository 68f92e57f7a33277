#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/token_id.h"
#include "formats/metadata.h"

namespace tandem {

struct EncodeOptions {
  /// Put BOS before and EOS after the text where the model's metadata asks for them.
  bool add_special = true;
  /// Control tokens written in the text become tokens. Only for text of our own making (a rendered
  /// chat template), never for what a user typed. User-defined tokens are recognised either way.
  bool parse_special = false;
  /// With parse_special: byte offsets, ascending, across which no control token is recognised. A
  /// break inside each control token that a user wrote makes it text, tokenized as if
  /// parse_special were off; it changes nothing else. Must outlive the call.
  std::span<const size_t> breaks = {};
};

struct DecodeOptions {
  /// Write control tokens as their text; otherwise they vanish.
  bool show_control = false;
  /// These are written in any case, such as the markers of a tool call. Must outlive the use.
  std::span<const TokenId> shown_control = {};
  /// The tokens begin a text, so the one space that encoding put before it is taken away again.
  /// False for a reply that continues a prompt.
  bool begins_text = true;

  bool shows(TokenId control_token) const {
    return show_control || std::find(shown_control.begin(), shown_control.end(), control_token) !=
                               shown_control.end();
  }
};

struct TokenizerOptions {
  /// Replaces the file's pre-tokenizer (`tokenizer.ggml.pre`) by this name. Empty: keep the file's.
  std::string pre_override;
  /// Further ids that end generation, for instance from generation_config.json.
  std::vector<TokenId> extra_end_ids;
  /// Gets warnings such as a missing pre-tokenizer name.
  LogSink log;
};

/// A token and the bytes of the text it stands for; BOS and EOS have an empty range. Bytes of a
/// character that normalisation rewrote as a whole belong to every token made of it.
struct TokenSpan {
  TokenId id;
  uint64_t begin;
  uint64_t end;
};

/// Text to token ids and back, exactly as a model was trained to see them (docs/tokenizer.md).
/// Immutable: any number of threads may use one.
///
///   TANDEM_TRY(const auto tokenizer, Tokenizer::from_metadata(file.metadata));
///   TANDEM_TRY(const auto ids, tokenizer->encode("안녕하세요"));
///   tokenizer->decode(ids);  // "안녕하세요"
class Tokenizer {
 public:
  /// From GGUF's tokenizer.ggml.* keys. Errors: kNotFound for a missing key, kCorruptFile for keys
  /// that contradict each other, kUnsupported for a kind or pre-tokenizer that is not known.
  static Result<std::unique_ptr<const Tokenizer>> from_metadata(
      const Metadata& metadata, const TokenizerOptions& options = {});
  /// From the text of a Hugging Face tokenizer.json; errors as above.
  static Result<std::unique_ptr<const Tokenizer>> from_json(std::string_view tokenizer_json,
                                                            const TokenizerOptions& options = {});
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Any bytes are accepted; where the vocabulary can spell every byte, decoding gives them back.
  /// Errors: kInvalidArgument for a text of 2 GiB or more; kUnsupported when a tokenizer.json's
  /// pattern takes too many steps on this text.
  Result<std::vector<TokenId>> encode(std::string_view text, EncodeOptions options = {}) const;
  /// The same ids, each with its byte range in `text`.
  Result<std::vector<TokenSpan>> encode_with_offsets(std::string_view text,
                                                     EncodeOptions options = {}) const;

  /// A whole text: always valid UTF-8, invalid bytes become U+FFFD by the WHATWG rule. Ids outside
  /// the vocabulary are skipped.
  std::string decode(std::span<const TokenId> tokens, DecodeOptions options = {}) const;
  /// The raw bytes a token stands for, which may be part of a character; empty for an id outside
  /// the vocabulary. Control tokens give their name. Lives as long as the tokenizer.
  std::string_view piece_bytes(TokenId token) const;

  int32_t n_tokens() const;
  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  std::optional<TokenId> eot() const;
  std::optional<TokenId> pad() const;
  std::optional<TokenId> unk() const;
  /// Whether encode's add_special puts the token there.
  bool adds_bos() const;
  bool adds_eos() const;
  /// Generation stops at any of these: EOS, end of turn, end of message, the markers known to end a
  /// turn, and the extra ids of the options. Sorted.
  std::span<const TokenId> end_of_generation() const;
  bool is_end_of_generation(TokenId token) const;
  bool is_control(TokenId token) const;
  /// The token whose bytes are exactly `piece`, control tokens by name.
  std::optional<TokenId> find(std::string_view piece) const;
  /// Decoding a text takes away the one space that encoding put before it.
  bool strips_first_space() const;
  /// The pre-tokenizer in force, for instance "qwen2"; empty when the kind has none.
  std::string_view pre_tokenizer() const;

  class Impl;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);

 private:
  std::unique_ptr<const Impl> impl_;
};

}  // namespace tandem
