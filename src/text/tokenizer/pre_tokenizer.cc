#include "text/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "text/tokenizer/pattern_syntax.h"
#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

// The stages of a pre-tokenizer. Each hands its pieces to the next one as it finds them, so that
// nothing but the words themselves is ever stored.

namespace tandem {
namespace {

bool word_char_at(std::string_view text, size_t pos) {
  if (pos == text.size()) return false;
  const uint32_t c = decode_utf8(text, pos).code_point;
  static const CharSet kWordChars(word_chars());
  return kWordChars.contains(c);
}

}  // namespace

/// One walk over one text.
class PreTokenizer::Run {
 public:
  Run(const std::vector<Stage>& stages, const Word& text, bool at_start, WordSink& sink)
      : stages_(stages),
        sink_(sink),
        scratch_(text.text.size()),
        text_begin_(text.begin),
        at_start_(at_start) {}

  void piece(const Word& word, size_t stage) {
    if (word.text.empty()) return;
    if (stage == stages_.size()) {
      sink_.add(word);
      return;
    }
    switch (stages_[stage].kind) {
      case Stage::Kind::kSplit:
        split(word, stage);
        break;
      case Stage::Kind::kPrefix:
        prefix(word, stage);
        break;
      case Stage::Kind::kDigitGroups:
        digit_groups(word, stage);
        break;
      case Stage::Kind::kCutBeforeSpaces:
        cut_before_spaces(word, stage);
        break;
      case Stage::Kind::kFixedLength:
        fixed_length(word, stage);
        break;
    }
  }

  bool exhausted() const { return scratch_.exhausted(); }

 private:
  struct Part {
    size_t begin;
    size_t end;
    bool matched;
  };

  void split(const Word& word, size_t stage) {
    const Stage& s = stages_[stage];
    if (s.behavior != SplitBehavior::kIsolated && s.behavior != SplitBehavior::kRemoved) {
      split_by_behavior(word, stage);
      return;
    }
    const bool removed = s.behavior == SplitBehavior::kRemoved;
    const bool keep_matches = !removed || s.invert;
    const bool keep_gaps = !removed || !s.invert;
    size_t done = 0;
    size_t from = 0;
    while (const auto match = s.pattern->find(word.text, from, scratch_)) {
      if (keep_gaps && match->begin > done) piece(word.part(done, match->begin), stage + 1);
      if (keep_matches) piece(word.part(match->begin, match->end), stage + 1);
      done = from = match->end;
      if (match->end > match->begin) continue;
      // An empty match only cuts here; the search goes on behind the next character.
      if (from == word.text.size()) break;
      from += decode_utf8(word.text, from).length;
    }
    if (keep_gaps) piece(word.part(done, word.text.size()), stage + 1);
  }

  /// The parts of `word`, matched or not, in order; both kinds cover all of it.
  std::vector<Part> parts(const Word& word, const Stage& s) {
    std::vector<Part> out;
    size_t done = 0;
    size_t from = 0;
    while (const auto match = s.pattern->find(word.text, from, scratch_)) {
      if (match->begin > done) out.push_back({done, match->begin, s.invert});
      if (match->end > match->begin) out.push_back({match->begin, match->end, !s.invert});
      done = match->end;
      from = match->end;
      if (match->end > match->begin) continue;
      if (from == word.text.size()) break;
      from += decode_utf8(word.text, from).length;
    }
    if (done < word.text.size()) out.push_back({done, word.text.size(), s.invert});
    return out;
  }

  void split_by_behavior(const Word& word, size_t stage) {
    const Stage& s = stages_[stage];
    const std::vector<Part> all = parts(word, s);
    std::vector<Part> merged;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool after_match = i > 0 && all[i - 1].matched;
      bool joins = false;
      if (i > 0) {
        switch (s.behavior) {
          case SplitBehavior::kMergedWithPrevious:
            joins = all[i].matched && !after_match;
            break;
          case SplitBehavior::kMergedWithNext:
            joins = !all[i].matched && after_match;
            break;
          case SplitBehavior::kContiguous:
            joins = all[i].matched == after_match;
            break;
          default:
            break;
        }
      }
      if (joins) {
        merged.back().end = all[i].end;
      } else {
        merged.push_back(all[i]);
      }
    }
    for (const Part& part : merged) piece(word.part(part.begin, part.end), stage + 1);
  }

  void prefix(const Word& word, size_t stage) {
    const Stage& s = stages_[stage];
    const bool is_first = at_start_ && word.begin == text_begin_ && word.n_added == 0;
    if (word.text.starts_with(s.prefix) || (s.first_only && !is_first)) {
      piece(word, stage + 1);
      return;
    }
    const std::string text = s.prefix + std::string(word.text);
    piece({text, word.begin, word.n_added + s.prefix.size()}, stage + 1);
  }

  void digit_groups(const Word& word, size_t stage) {
    const std::string_view text = word.text;
    size_t done = 0;
    for (size_t pos = 0; pos < text.size();) {
      std::vector<size_t> digits;  // where each digit of the run begins
      size_t end = pos;
      while (end < text.size()) {
        const DecodedChar c = decode_utf8(text, end);
        if (general_category(c.code_point) != GeneralCategory::kDecimalNumber) break;
        digits.push_back(end);
        end += c.length;
      }
      if (digits.empty()) {
        pos += decode_utf8(text, pos).length;
        continue;
      }
      if (!stages_[stage].at_boundary || !word_char_at(text, end)) {
        if (digits[0] > done) piece(word.part(done, digits[0]), stage + 1);
        for (size_t i = 0; i < digits.size();) {
          const size_t size = (digits.size() - i - 1) % 3 + 1;
          const size_t stop = i + size < digits.size() ? digits[i + size] : end;
          piece(word.part(digits[i], stop), stage + 1);
          i += size;
        }
        done = end;
      }
      pos = end;
    }
    if (done < text.size()) piece(word.part(done, text.size()), stage + 1);
  }

  void cut_before_spaces(const Word& word, size_t stage) {
    const Stage& s = stages_[stage];
    size_t done = 0;
    for (size_t pos = word.text.find(' ', 1); pos < word.text.size();) {
      const char before = word.text[pos - 1];
      if (s.each_space || (before != ' ' && !s.joined[static_cast<uint8_t>(before)])) {
        piece(word.part(done, pos), stage + 1);
        done = pos;
      }
      pos = word.text.find(' ', pos + 1);
    }
    piece(word.part(done, word.text.size()), stage + 1);
  }

  void fixed_length(const Word& word, size_t stage) {
    size_t done = 0;
    size_t n = 0;
    for (size_t pos = 0; pos < word.text.size();) {
      pos += decode_utf8(word.text, pos).length;
      if (++n % stages_[stage].length != 0 && pos < word.text.size()) continue;
      piece(word.part(done, pos), stage + 1);
      done = pos;
    }
  }

  const std::vector<Stage>& stages_;
  WordSink& sink_;
  Pattern::Scratch scratch_;
  size_t text_begin_;
  bool at_start_;
};

void PreTokenizer::add_split(Pattern pattern, SplitBehavior behavior, bool invert) {
  Stage stage{Stage::Kind::kSplit, std::make_unique<const Pattern>(std::move(pattern))};
  stage.behavior = behavior;
  stage.invert = invert;
  stages_.push_back(std::move(stage));
}

void PreTokenizer::add_prefix(std::string prefix, bool first_only) {
  Stage stage{Stage::Kind::kPrefix, nullptr};
  stage.prefix = std::move(prefix);
  stage.first_only = first_only;
  stages_.push_back(std::move(stage));
}

Result<void> PreTokenizer::add_pattern(std::string_view regex, SplitBehavior behavior,
                                       bool invert) {
  const bool at_boundary = regex == R"(\d{1,3}(?=(?:\d{3})*\b))";
  if (at_boundary || regex == R"((?=(\d{3})+(?!\d)))") {
    Stage stage{Stage::Kind::kDigitGroups, nullptr};
    stage.at_boundary = at_boundary;
    stages_.push_back(std::move(stage));
    return {};
  }
  TANDEM_TRY(Pattern pattern, Pattern::compile(regex));
  add_split(std::move(pattern), behavior, invert);
  return {};
}

void PreTokenizer::add_cut_before_spaces(const ByteSet& joined) {
  Stage stage{Stage::Kind::kCutBeforeSpaces, nullptr};
  stage.joined = joined;
  stages_.push_back(std::move(stage));
}

void PreTokenizer::add_cut_before_each_space() {
  Stage stage{Stage::Kind::kCutBeforeSpaces, nullptr};
  stage.each_space = true;
  stages_.push_back(std::move(stage));
}

void PreTokenizer::add_fixed_length(size_t length) {
  Stage stage{Stage::Kind::kFixedLength, nullptr};
  stage.length = std::max<size_t>(1, length);
  stages_.push_back(std::move(stage));
}

Result<void> PreTokenizer::split(const Word& text, bool at_start, WordSink& sink) const {
  Run run(stages_, text, at_start, sink);
  run.piece(text, 0);
  if (run.exhausted()) {
    return failure(ErrorCode::kUnsupported,
                   "pre-tokenizer: a pattern needs too many steps for a text of {} bytes",
                   text.text.size());
  }
  return {};
}

}  // namespace tandem
