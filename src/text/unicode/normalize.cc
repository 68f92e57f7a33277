#include "text/unicode/normalize.h"

#include <algorithm>
#include <vector>

#include "text/unicode/unicode_tables.h"
#include "text/unicode/utf8.h"

// Normalization after UAX 15: decompose, put combining marks into canonical order, compose. The
// text is handled in stretches that cannot affect each other; those of one stable character, which
// is nearly all, are passed through.

namespace tandem {
namespace {

namespace tables = unicode_tables;

// Hangul syllables are composed of jamo by arithmetic (Unicode Standard 3.12).
constexpr uint32_t kSyllableBase = 0xAC00;
constexpr uint32_t kLeadBase = 0x1100;
constexpr uint32_t kVowelBase = 0x1161;
constexpr uint32_t kTrailBase = 0x11A7;  // one before the first trailing consonant
constexpr uint32_t kLeads = 19;
constexpr uint32_t kVowels = 21;
constexpr uint32_t kTrails = 28;
constexpr uint32_t kSyllables = kLeads * kVowels * kTrails;

bool is_syllable(uint32_t c) { return c - kSyllableBase < kSyllables; }
bool is_vowel(uint32_t c) { return c - kVowelBase < kVowels; }
bool is_trail(uint32_t c) { return c > kTrailBase && c < kTrailBase + kTrails; }

template <class Row>
const Row* find_row(const Row* rows, size_t n, uint32_t c) {
  const Row* found =
      std::lower_bound(rows, rows + n, c, [](const Row& row, uint32_t v) { return row.from < v; });
  return found != rows + n && found->from == c ? found : nullptr;
}

uint32_t combining_class(uint32_t c) {
  if (c < 0x300) return 0;
  const auto* row = find_row(tables::combining_classes, tables::combining_classes_size, c);
  return row ? row->to : 0;
}

bool is_compatible(NormalForm form) {
  return form == NormalForm::kNfkc || form == NormalForm::kNfkd;
}
bool composes(NormalForm form) { return form == NormalForm::kNfc || form == NormalForm::kNfkc; }

const tables::Decomposition* decomposition(uint32_t c, bool compatible) {
  return compatible
             ? find_row(tables::compatible_decompositions, tables::compatible_decompositions_size,
                        c)
             : find_row(tables::canonical_decompositions, tables::canonical_decompositions_size, c);
}

/// The composite of two characters, or 0.
uint32_t compose(uint32_t first, uint32_t second) {
  if (first - kLeadBase < kLeads && is_vowel(second)) {
    return kSyllableBase + ((first - kLeadBase) * kVowels + second - kVowelBase) * kTrails;
  }
  if (is_syllable(first) && (first - kSyllableBase) % kTrails == 0 && is_trail(second)) {
    return first + second - kTrailBase;
  }
  const auto* end = tables::compositions + tables::compositions_size;
  const auto* found = std::lower_bound(
      tables::compositions, end, std::pair{first, second},
      [](const tables::Composition& row, const std::pair<uint32_t, uint32_t>& wanted) {
        return std::pair{row.first, row.second} < wanted;
      });
  const bool hit = found != end && found->first == first && found->second == second;
  return hit ? found->composed : 0;
}

/// Sorted: characters that can be the second part of a composition, jamo aside.
const std::vector<uint32_t>& composing_seconds() {
  static const std::vector<uint32_t> kSeconds = [] {
    std::vector<uint32_t> out;
    for (size_t i = 0; i < tables::compositions_size; ++i) {
      out.push_back(tables::compositions[i].second);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }();
  return kSeconds;
}

bool composes_with_previous(uint32_t c) {
  if (is_vowel(c) || is_trail(c)) return true;
  const auto& seconds = composing_seconds();
  return std::binary_search(seconds.begin(), seconds.end(), c);
}

void decompose(uint32_t c, bool compatible, std::vector<uint32_t>& out) {
  if (is_syllable(c)) {
    const uint32_t index = c - kSyllableBase;
    out.push_back(kLeadBase + index / (kVowels * kTrails));
    out.push_back(kVowelBase + index / kTrails % kVowels);
    if (index % kTrails != 0) out.push_back(kTrailBase + index % kTrails);
    return;
  }
  const tables::Decomposition* row = decomposition(c, compatible);
  if (row == nullptr) {
    out.push_back(c);
    return;
  }
  const uint32_t* first = tables::decomposition_pool + row->pool_index;
  out.insert(out.end(), first, first + row->length);
}

void sort_marks(std::vector<uint32_t>& chars) {
  for (auto start = chars.begin(); start != chars.end();) {
    if (combining_class(*start) == 0) {
      ++start;
      continue;
    }
    auto stop = start;
    while (stop != chars.end() && combining_class(*stop) != 0) ++stop;
    std::stable_sort(start, stop, [](uint32_t a, uint32_t b) {
      return combining_class(a) < combining_class(b);
    });
    start = stop;
  }
}

void compose_all(std::vector<uint32_t>& chars) {
  size_t n_out = 0;
  size_t starter = SIZE_MAX;  // place of the last starter in the output
  uint32_t last_class = 0;    // of the last character kept after it
  for (const uint32_t c : chars) {
    const uint32_t combining = combining_class(c);
    const bool adjacent = starter != SIZE_MAX && starter + 1 == n_out;
    const bool blocked = !adjacent && (last_class == 0 || last_class >= combining);
    if (starter != SIZE_MAX && !blocked) {
      if (const uint32_t composed = compose(chars[starter], c)) {
        chars[starter] = composed;
        continue;
      }
    }
    if (combining == 0) starter = n_out;
    last_class = combining;
    chars[n_out++] = c;
  }
  chars.resize(n_out);
}

/// Whether a character that has a decomposition is its own normal form all the same.
bool recomposes(uint32_t c, NormalForm form) {
  if (!composes(form)) return false;
  std::vector<uint32_t> chars;
  decompose(c, is_compatible(form), chars);
  compose_all(chars);
  return chars.size() == 1 && chars[0] == c;
}

/// By code point: stays as it is, whatever stands before it, and so begins a stretch of its own.
/// The entry past U+10FFFF is for invalid bytes.
std::vector<bool> find_stable_chars(NormalForm form) {
  std::vector<bool> stable(0x110001, true);
  for (size_t i = 0; i < tables::combining_classes_size; ++i) {
    stable[tables::combining_classes[i].from] = false;
  }
  const bool compatible = is_compatible(form);
  const auto* rows =
      compatible ? tables::compatible_decompositions : tables::canonical_decompositions;
  const size_t n_rows =
      compatible ? tables::compatible_decompositions_size : tables::canonical_decompositions_size;
  for (size_t i = 0; i < n_rows; ++i) {
    if (!recomposes(rows[i].from, form)) stable[rows[i].from] = false;
  }
  if (!composes(form)) {
    for (uint32_t c = 0; c < kSyllables; ++c) stable[kSyllableBase + c] = false;
    return stable;
  }
  for (const uint32_t c : composing_seconds()) stable[c] = false;
  for (uint32_t c = kVowelBase; c < kVowelBase + kVowels; ++c) stable[c] = false;
  for (uint32_t c = kTrailBase + 1; c < kTrailBase + kTrails; ++c) stable[c] = false;
  return stable;
}

const std::vector<bool>& stable_chars(NormalForm form) {
  static const std::vector<bool> kNfc = find_stable_chars(NormalForm::kNfc);
  static const std::vector<bool> kNfd = find_stable_chars(NormalForm::kNfd);
  static const std::vector<bool> kNfkc = find_stable_chars(NormalForm::kNfkc);
  static const std::vector<bool> kNfkd = find_stable_chars(NormalForm::kNfkd);
  switch (form) {
    case NormalForm::kNfc:
      return kNfc;
    case NormalForm::kNfd:
      return kNfd;
    case NormalForm::kNfkc:
      return kNfkc;
    case NormalForm::kNfkd:
      break;
  }
  return kNfkd;
}

/// One walk over one text.
class Walk {
 public:
  Walk(std::string_view text, NormalForm form,
       const std::function<void(const NormalizedPiece&)>& emit)
      : text_(text), form_(form), stable_(stable_chars(form)), emit_(emit) {}

  void run() {
    size_t pos = 0;
    while (pos < text_.size()) {
      const size_t unstable = skip_stable(pos);
      if (unstable == text_.size()) {
        copy(pos, unstable);
        return;
      }
      // The last stable character may compose with what follows it.
      const size_t begin = last_stable_ == SIZE_MAX ? unstable : last_stable_;
      copy(pos, begin);
      pos = rewrite(begin);
    }
  }

 private:
  /// The first unstable character at or after `pos`; remembers the one before it, if it is one.
  size_t skip_stable(size_t pos) {
    last_stable_ = SIZE_MAX;
    while (pos < text_.size()) {
      const DecodedChar c = decode_utf8(text_, pos);
      if (!stable_[c.code_point]) break;
      last_stable_ = c.code_point == kInvalidByte ? SIZE_MAX : pos;
      pos += c.length;
    }
    return pos;
  }

  void copy(size_t from, size_t to) {
    if (to > from) emit_({from, to, text_.substr(from, to - from), false});
  }

  /// Normalizes from `begin` up to the next character that nothing before it can change.
  size_t rewrite(size_t begin) {
    chars_.clear();
    size_t pos = begin;
    while (pos < text_.size()) {
      const DecodedChar c = decode_utf8(text_, pos);
      if (c.code_point == kInvalidByte) break;
      if (pos > begin && begins_stretch(c.code_point)) break;
      decompose(c.code_point, is_compatible(form_), chars_);
      pos += c.length;
    }
    sort_marks(chars_);
    if (composes(form_)) compose_all(chars_);
    out_.clear();
    for (const uint32_t c : chars_) append_utf8(out_, c);
    const std::string_view source = text_.substr(begin, pos - begin);
    const bool changed = out_ != source;
    emit_({begin, pos, changed ? std::string_view(out_) : source, changed});
    return pos;
  }

  bool begins_stretch(uint32_t c) const {
    if (stable_[c]) return true;
    // Its decomposition may begin with what composes backwards (U+0344) or reorders.
    const tables::Decomposition* row = decomposition(c, is_compatible(form_));
    const uint32_t first = row ? tables::decomposition_pool[row->pool_index] : c;
    return combining_class(c) == 0 && combining_class(first) == 0 &&
           !(composes(form_) && (composes_with_previous(c) || composes_with_previous(first)));
  }

  std::string_view text_;
  NormalForm form_;
  const std::vector<bool>& stable_;
  const std::function<void(const NormalizedPiece&)>& emit_;
  size_t last_stable_ = SIZE_MAX;
  std::vector<uint32_t> chars_;
  std::string out_;
};

}  // namespace

bool is_normalized(std::string_view text, NormalForm form) {
  const std::vector<bool>& stable = stable_chars(form);
  for (size_t pos = 0; pos < text.size();) {
    const DecodedChar c = decode_utf8(text, pos);
    if (!stable[c.code_point]) return false;
    pos += c.length;
  }
  return true;
}

void normalize(std::string_view text, NormalForm form,
               const std::function<void(const NormalizedPiece&)>& emit) {
  Walk(text, form, emit).run();
}

std::string normalized(std::string_view text, NormalForm form) {
  std::string out;
  normalize(text, form, [&](const NormalizedPiece& piece) { out += piece.text; });
  return out;
}

}  // namespace tandem
