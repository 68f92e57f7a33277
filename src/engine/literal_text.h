#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/tokenizer.h"

namespace tandem {

/// A text and the byte offsets across which no control token may be recognised
/// (EncodeOptions::breaks).
struct BrokenText {
  std::string text;
  std::vector<size_t> breaks;
};

/// Keeps control tokens that a user wrote apart from those of a chat template, through the
/// template (docs/chat_prompts.md): `mark` puts a character into each one before rendering, and
/// `unmark` takes it out again and says where it was. Immutable, thread safe.
class LiteralText {
 public:
  /// Reads the control tokens of `tokenizer`, which is not needed afterwards.
  explicit LiteralText(const Tokenizer& tokenizer);

  /// Changes every string inside `json`, keys too, in which a control token is spelled out or may
  /// begin at the end. Returns the character that was put in: one found neither in the strings nor
  /// in `template_source`; empty when nothing had to change. Looks 200 levels deep, as templates
  /// do. Errors: kInvalidArgument when the strings hold every character that could be used.
  Result<std::string> mark(nlohmann::ordered_json& json, std::string_view template_source) const;

  /// Takes the character of `mark` out of a rendered text.
  static BrokenText unmark(std::string text, std::string_view mark);

  /// Where `text` needs breaks: behind the first character of each control token spelled out and,
  /// when asked, of one that the end of `text` may begin. Ascending.
  enum class End { kComplete, kMayGoOn };
  std::vector<size_t> breaks(std::string_view text, End end) const;

 private:
  bool may_begin(std::string_view text) const;
  void mark_strings(nlohmann::ordered_json& json, std::string_view mark, End end, int depth) const;
  std::string marked(const std::string& text, std::string_view mark, End end) const;
  bool needs_marks(const nlohmann::ordered_json& json, End end, int depth) const;

  TokenTrie trie_;
  std::vector<std::string> sorted_;  ///< the control tokens' texts
  size_t longest_ = 0;
};

}  // namespace tandem
