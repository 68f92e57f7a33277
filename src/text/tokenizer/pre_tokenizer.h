#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/pattern.h"
#include "text/tokenizer/token_model.h"

namespace tandem {

/// What happens to the parts of a text that a pattern matches (Hugging Face's names).
enum class SplitBehavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };

using ByteSet = std::array<bool, 256>;

/// Takes the words one by one.
class WordSink {
 public:
  virtual ~WordSink() = default;
  virtual void add(const Word& word) = 0;
};

/// Cuts a text into the words that a model encodes one by one. Immutable.
class PreTokenizer {
 public:
  /// Cuts at the matches of `pattern`. With `invert`, at what lies between them.
  void add_split(Pattern pattern, SplitBehavior behavior, bool invert = false);
  /// Puts `prefix` before each piece that does not begin with it; only before the piece at the
  /// text's beginning when `first_only`.
  void add_prefix(std::string prefix, bool first_only);
  /// A regular expression that cuts as `add_split` does. The known ones that group digits from the
  /// right by looking ahead over the whole run become a stage of linear cost.
  Result<void> add_pattern(std::string_view regex,
                           SplitBehavior behavior = SplitBehavior::kIsolated, bool invert = false);
  /// Cuts before each run of spaces that follows something else, a byte of `joined` excepted.
  void add_cut_before_spaces(const ByteSet& joined);
  /// Cuts before every space (Metaspace's split).
  void add_cut_before_each_space();
  /// Cuts after every `length` characters.
  void add_fixed_length(size_t length);
  bool empty() const { return stages_.empty(); }

  /// Hands the words of `text` to `sink` in order. `at_start`: the text begins the whole input.
  /// Errors: kUnsupported when a pattern runs out of steps on this text.
  Result<void> split(const Word& text, bool at_start, WordSink& sink) const;

 private:
  struct Stage {
    enum class Kind { kSplit, kPrefix, kDigitGroups, kCutBeforeSpaces, kFixedLength };
    Kind kind = Kind::kSplit;
    std::unique_ptr<const Pattern> pattern = nullptr;
    SplitBehavior behavior = SplitBehavior::kIsolated;
    bool invert = false;
    std::string prefix = {};
    bool first_only = false;
    size_t length = 0;
    ByteSet joined{};
    bool each_space = false;   ///< cut within a run of spaces as well
    bool at_boundary = false;  ///< group digits only where no word character follows the run
  };
  class Run;

  std::vector<Stage> stages_;
};

}  // namespace tandem
