#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/sampling/constraint.h"
#include "text/tokenizer/char_set.h"
#include "text/tokenizer/tokenizer.h"

namespace tandem {

/// Keeps a reply to characters of some scripts, for instance Hangul and Latin, so that a model
/// trained mainly on Chinese cannot slip Hanja into a Korean answer. Digits, punctuation, white
/// space and combining marks (the scripts Common and Inherited) are always allowed, and so are
/// tokens that write no text. A character spelled by several byte tokens is judged by its first
/// bytes: a token after which only other scripts' characters could follow is masked.
///
/// The tokenizer must outlive it.
class ScriptConstraint : public Constraint {
 public:
  /// `scripts` are Unicode script names. Errors: kInvalidArgument naming an unknown script and
  /// listing the known ones.
  static Result<std::unique_ptr<ScriptConstraint>> create(const Tokenizer& tokenizer,
                                                          std::span<const std::string> scripts);

  Result<void> mask(std::span<float> logits) override;
  Result<void> accept(TokenId token) override;
  bool is_complete() const override { return true; }
  void reset() override { pending_.clear(); }

 private:
  ScriptConstraint(const Tokenizer& tokenizer, CharRanges allowed);

  bool allows(TokenId token) const;
  bool writes_allowed_text(std::string& text) const;
  bool can_become_allowed(std::string_view prefix) const;

  const Tokenizer& tokenizer_;
  CharRanges ranges_;
  CharSet allowed_;
  std::vector<TokenId> banned_;      ///< never allowed; they begin with a whole character
  std::vector<TokenId> continuing_;  ///< tokens that begin inside a character
  std::string pending_;              ///< bytes of a character that is not whole yet, at most 3
  mutable std::string scratch_;      ///< pending_ and a token's bytes
};

}  // namespace tandem
