#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/unicode/properties.h"

namespace tandem {

/// The syntax tree of a pattern (pattern.h says which constructs there are).
struct PatternNode {
  enum class Kind {
    kSet,          ///< one character out of `set`
    kSequence,     ///< `children` one after the other; empty matches nothing
    kAlternation,  ///< the first of `children` that lets the whole match
    kRepeat,       ///< `children[0]` min to max times
    kLookAhead,    ///< `children[0]` matches here (or does not, when negated)
    kLookBehind,   ///< the character before is in `set` (or is not)
    kLineStart,    ///< ^ and $ stand for lines, as in Oniguruma's Ruby syntax
    kLineEnd,
    kTextStart,
    kTextEnd,
    kWordBoundary,
  };
  enum class Greed { kGreedy, kLazy, kPossessive };
  static constexpr uint32_t kUnbounded = UINT32_MAX;

  Kind kind = Kind::kSequence;
  CharRanges set;
  std::vector<std::unique_ptr<PatternNode>> children;
  uint32_t min = 0;
  uint32_t max = 0;
  Greed greed = Greed::kGreedy;
  bool negated = false;
};

/// Errors: kUnsupported naming the construct and its place in the pattern.
Result<std::unique_ptr<PatternNode>> parse_pattern(std::string_view source);

/// \w of Oniguruma: letters, marks, decimal digits, connectors and what is alphabetic besides.
CharRanges word_chars();

}  // namespace tandem
