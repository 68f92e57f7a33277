#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/char_set.h"

namespace tandem {

/// A compiled regular expression of the kind that pre-tokenizers use: sets, properties, groups,
/// alternation, greedy, lazy and (on single sets) possessive quantifiers, look-ahead, look-behind
/// by one character, anchors, (?i:). The first alternative that matches wins, as in Oniguruma,
/// whose Unicode rules it follows. Immutable.
///
/// Matching backtracks, but only within a budget of steps that grows with the text, so that no
/// pattern can make it run away; every pattern in docs/tokenizer.md is linear far within it.
class Pattern {
 public:
  /// Errors: kUnsupported naming the construct and its place.
  static Result<Pattern> compile(std::string_view source);

  /// What matching needs besides the pattern; reused between calls to save allocations.
  class Scratch {
   public:
    /// Room for every match in a text of this many bytes.
    explicit Scratch(size_t text_bytes)
        : steps_left_(uint64_t{1} << 20 | uint64_t{256} * text_bytes) {}
    /// The budget ran out: results since then mean nothing.
    bool exhausted() const { return steps_left_ == 0; }

   private:
    friend class Pattern;
    static constexpr size_t kNoRun = SIZE_MAX;
    struct Frame {
      uint32_t pc;      ///< where to go on
      size_t pos;       ///< and at which byte
      size_t shortest;  ///< the run that ended at pos may give back characters down to here
    };
    void spend(uint64_t steps) { steps_left_ -= steps < steps_left_ ? steps : steps_left_; }
    std::vector<Frame> stack_;
    uint64_t steps_left_;
  };

  struct Match {
    size_t begin;
    size_t end;
  };
  /// End of the match that begins exactly at `pos`. May be empty.
  std::optional<size_t> match_at(std::string_view text, size_t pos, Scratch& scratch) const;
  /// The first match that begins at or after `from`.
  std::optional<Match> find(std::string_view text, size_t from, Scratch& scratch) const;

 private:
  friend class PatternCompiler;
  enum class Op : uint8_t {
    kChar,           ///< one character in set `a`
    kRun,            ///< `min` to `max` characters in set `a`, as many as possible
    kRunPossessive,  ///< the same, never giving any back
    kSplit,          ///< try `a`, then `b`
    kJump,           ///< go to `a`
    kLook,           ///< the code up to `a` must match here (min == 1) or must not (min == 0)
    kBehind,         ///< the character before is in set `a` (min == 1) or is not (min == 0)
    kLineStart,
    kLineEnd,
    kTextStart,
    kTextEnd,
    kWordBoundary,
    kMatch,
  };
  struct Instruction {
    Op op;
    uint32_t a = 0;
    uint32_t b = 0;
    uint32_t min = 0;
    uint32_t max = 0;
  };
  struct Branch {
    uint32_t start;  ///< its first instruction
    bool non_ascii;  ///< may begin with a character past U+007F, or may be empty
  };

  std::optional<size_t> run(uint32_t pc, std::string_view text, size_t pos, Scratch& scratch) const;
  bool step_assertion(const Instruction& in, std::string_view text, size_t pos) const;
  size_t run_end(const Instruction& in, std::string_view text, size_t pos, uint64_t* count) const;
  bool in_set(uint32_t set, uint32_t code_point) const {
    return code_point < 0x80 ? ascii_[code_point] >> set & 1 : sets_[set].contains(code_point);
  }

  std::vector<Instruction> program_;
  std::vector<CharSet> sets_;
  /// Bit s: the ASCII character is in set s.
  std::array<uint64_t, 128> ascii_{};
  std::vector<Branch> branches_;
  /// Bit b: branch b may begin with the ASCII character.
  std::array<uint32_t, 128> starts_{};
  /// The whole pattern begins with an unbounded run of this set, so that after a failure at one
  /// place every other place in the same run fails too; -1 otherwise.
  int32_t leading_run_ = -1;
  uint32_t word_set_ = 0;
};

}  // namespace tandem
