#include "text/tokenizer/pattern_syntax.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "text/unicode/unicode_tables.h"
#include "text/unicode/utf8.h"

// Parses the subset of Oniguruma's regular expressions that tokenizers use.

namespace tandem {
namespace {

using Node = PatternNode;
using NodePtr = std::unique_ptr<Node>;

constexpr uint32_t kMaxDepth = 24;
constexpr size_t kMaxSource = 16384;
/// {512} is the largest count in known use.
constexpr uint32_t kMaxCount = 1024;

NodePtr make_node(Node::Kind kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}

NodePtr make_set(CharRanges set) {
  NodePtr node = make_node(Node::Kind::kSet);
  node->set = std::move(set);
  return node;
}

CharRanges with_case_variants(const CharRanges& set) {
  namespace tables = unicode_tables;
  const auto contains = [&](uint32_t c) {
    const auto after = std::upper_bound(set.begin(), set.end(), c,
                                        [](uint32_t v, const CharRange& r) { return v < r.first; });
    return after != set.begin() && c <= std::prev(after)->last;
  };
  CharRanges extra;
  if (set.size() == 1 && set[0].first == set[0].last) {
    for (const uint32_t c : case_variants(set[0].first)) extra = unite(extra, {{c, c}});
    return unite(set, extra);
  }
  for (size_t i = 0; i < tables::case_variants_size; ++i) {
    const tables::CodePointPair& pair = tables::case_variants[i];
    if (contains(pair.from)) extra.push_back({pair.to, pair.to});
  }
  std::sort(extra.begin(), extra.end(),
            [](const CharRange& a, const CharRange& b) { return a.first < b.first; });
  return unite(set, extra);
}

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  Result<NodePtr> parse() {
    if (source_.size() > kMaxSource) return unsupported("a pattern this long");
    if (!is_valid_utf8(source_)) return unsupported("bytes that are not UTF-8");
    TANDEM_TRY(NodePtr node, alternation(0));
    if (!at_end()) return unsupported("an unmatched ')'");
    return node;
  }

 private:
  bool at_end() const { return pos_ == source_.size(); }
  bool next_is(std::string_view text) const { return source_.substr(pos_).starts_with(text); }
  bool take(std::string_view text) {
    if (!next_is(text)) return false;
    pos_ += text.size();
    return true;
  }
  uint32_t take_char() {
    const DecodedChar c = decode_utf8(source_, pos_);
    pos_ += c.length;
    return c.code_point;
  }
  tl::unexpected<Error> unsupported(std::string_view what) const {
    return failure(ErrorCode::kUnsupported, "pattern \"{}\": {} at byte {} is not supported",
                   source_.substr(0, 200), what, pos_);
  }

  Result<NodePtr> alternation(uint32_t depth) {
    if (depth > kMaxDepth) return unsupported("nesting this deep");
    NodePtr node = make_node(Node::Kind::kAlternation);
    const bool outer_case = ignore_case_;
    do {
      TANDEM_TRY(NodePtr branch, sequence(depth));
      node->children.push_back(std::move(branch));
    } while (take("|"));
    ignore_case_ = outer_case;
    if (node->children.size() == 1) return std::move(node->children[0]);
    return node;
  }

  Result<NodePtr> sequence(uint32_t depth) {
    NodePtr node = make_node(Node::Kind::kSequence);
    while (!at_end() && !next_is("|") && !next_is(")")) {
      if (take("(?i)")) {
        ignore_case_ = true;
        continue;
      }
      TANDEM_TRY(NodePtr atom, this->atom(depth));
      TANDEM_TRY(NodePtr item, quantified(std::move(atom)));
      node->children.push_back(std::move(item));
    }
    return node;
  }

  Result<NodePtr> atom(uint32_t depth) {
    if (next_is("(")) return group(depth);
    if (next_is("[")) {
      TANDEM_TRY(CharRanges set, bracket(depth));
      return make_set(std::move(set));
    }
    if (next_is("*") || next_is("+") || next_is("?")) return unsupported("a lone quantifier");
    if (take("^")) return make_node(Node::Kind::kLineStart);
    if (take("$")) return make_node(Node::Kind::kLineEnd);
    if (take(".")) return make_set(complement({{'\n', '\n'}}));
    if (take("\\A")) return make_node(Node::Kind::kTextStart);
    if (take("\\z")) return make_node(Node::Kind::kTextEnd);
    if (take("\\b")) return make_node(Node::Kind::kWordBoundary);
    TANDEM_TRY(CharRanges set, single_or_escape());
    return make_set(std::move(set));
  }

  Result<NodePtr> group(uint32_t depth) {
    take("(");
    const bool outer_case = ignore_case_;
    NodePtr node;
    bool behind = false;
    if (take("?:")) {
      node = nullptr;
    } else if (take("?i:")) {
      ignore_case_ = true;
    } else if (take("?=")) {
      node = make_node(Node::Kind::kLookAhead);
    } else if (take("?!")) {
      node = make_node(Node::Kind::kLookAhead);
      node->negated = true;
    } else if (take("?<=") || take("?<!")) {
      node = make_node(Node::Kind::kLookBehind);
      node->negated = source_[pos_ - 1] == '!';
      behind = true;
    } else if (next_is("?")) {
      return unsupported("this kind of group");
    }
    TANDEM_TRY(NodePtr inner, alternation(depth + 1));
    if (!take(")")) return unsupported("a missing ')'");
    ignore_case_ = outer_case;
    if (!node) return inner;
    if (!behind) {
      node->children.push_back(std::move(inner));
      return node;
    }
    if (inner->kind == Node::Kind::kSequence && inner->children.size() == 1) {
      inner = std::move(inner->children[0]);
    }
    if (inner->kind != Node::Kind::kSet) return unsupported("looking behind by several characters");
    node->set = std::move(inner->set);
    return node;
  }

  Result<NodePtr> quantified(NodePtr atom) {
    uint32_t min = 0;
    uint32_t max = 0;
    if (take("*")) {
      max = Node::kUnbounded;
    } else if (take("+")) {
      min = 1;
      max = Node::kUnbounded;
    } else if (take("?")) {
      max = 1;
    } else if (const auto counts = take_counts()) {
      std::tie(min, max) = *counts;
    } else {
      return atom;
    }
    const uint32_t largest = max == Node::kUnbounded ? min : max;
    if (largest > kMaxCount || (max < min)) return unsupported("this repeat count");
    NodePtr node = make_node(Node::Kind::kRepeat);
    node->min = min;
    node->max = max;
    if (take("?")) node->greed = Node::Greed::kLazy;
    if (take("+")) node->greed = Node::Greed::kPossessive;
    if (next_is("*") || next_is("{")) return unsupported("a repeated quantifier");
    node->children.push_back(std::move(atom));
    return node;
  }

  /// "{2}", "{2,}", "{2,5}" or "{,5}"; anything else stays literal text.
  std::optional<std::pair<uint32_t, uint32_t>> take_counts() {
    if (!next_is("{")) return std::nullopt;
    const size_t close = source_.find('}', pos_);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view body = source_.substr(pos_ + 1, close - pos_ - 1);
    const size_t comma = body.find(',');
    const auto number = [](std::string_view digits, uint32_t otherwise) -> std::optional<uint32_t> {
      if (digits.empty()) return otherwise;
      if (digits.size() > 6) return std::nullopt;
      uint32_t value = 0;
      for (char c : digits) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + static_cast<uint32_t>(c - '0');
      }
      return value;
    };
    if (body.empty() || body == ",") return std::nullopt;
    const auto min = number(body.substr(0, comma), 0);
    const auto max =
        comma == std::string_view::npos ? min : number(body.substr(comma + 1), Node::kUnbounded);
    if (!min || !max) return std::nullopt;
    pos_ = close + 1;
    return std::pair{*min, *max};
  }

  CharRanges cased(CharRanges set) const {
    return ignore_case_ ? with_case_variants(set) : std::move(set);
  }

  Result<CharRanges> single_or_escape() {
    if (next_is("\\")) return escape();
    const uint32_t c = take_char();
    return cased({{c, c}});
  }

  Result<CharRanges> escape() {
    take("\\");
    if (at_end()) return unsupported("a trailing backslash");
    const uint32_t c = take_char();
    switch (c) {
      case 'r':
        return CharRanges{{'\r', '\r'}};
      case 'n':
        return CharRanges{{'\n', '\n'}};
      case 't':
        return CharRanges{{'\t', '\t'}};
      case 'f':
        return CharRanges{{'\f', '\f'}};
      case 'v':
        return CharRanges{{'\v', '\v'}};
      case 's':
        return property_ranges("White_Space");
      case 'S':
        return complement(property_ranges("White_Space"));
      case 'd':
        return property_ranges("Nd");
      case 'D':
        return complement(property_ranges("Nd"));
      case 'w':
        return word_chars();
      case 'W':
        return complement(word_chars());
      case 'p':
        return property(false);
      case 'P':
        return property(true);
      case 'x':
        return hexadecimal(take("{") ? '}' : '\0', 2);
      case 'u':
        return hexadecimal(take("{") ? '}' : '\0', 4);
      default:
        break;
    }
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (alphanumeric) return unsupported("this escape");
    return cased({{c, c}});
  }

  Result<CharRanges> property(bool negated) {
    if (!take("{")) return unsupported("\\p without braces");
    if (take("^")) negated = !negated;
    const size_t close = source_.find('}', pos_);
    if (close == std::string_view::npos) return unsupported("an unclosed property");
    const std::string_view name = source_.substr(pos_, close - pos_);
    CharRanges set = property_ranges(name);
    if (set.empty()) return unsupported(fmt::format("the property {}", name.substr(0, 40)));
    pos_ = close + 1;
    return negated ? complement(set) : std::move(set);
  }

  /// Hexadecimal digits up to `close`, or exactly `n_digits` of them when there is none.
  Result<CharRanges> hexadecimal(char close, size_t n_digits) {
    const size_t end = close ? source_.find(close, pos_) : pos_ + n_digits;
    if (end == std::string_view::npos || end > source_.size() || end == pos_ || end - pos_ > 6) {
      return unsupported("this escape");
    }
    uint32_t value = 0;
    for (; pos_ < end; ++pos_) {
      const char c = source_[pos_];
      const bool digit = c >= '0' && c <= '9';
      const char lower = static_cast<char>(c | 0x20);
      if (!digit && (lower < 'a' || lower > 'f')) return unsupported("this escape");
      value = value * 16 + static_cast<uint32_t>(digit ? c - '0' : lower - 'a' + 10);
    }
    if (close) ++pos_;
    if (value > 0x10FFFF) return unsupported("a character past U+10FFFF");
    return cased({{value, value}});
  }

  /// "[...]" with ranges, nested sets, a leading ^ and && for intersection.
  Result<CharRanges> bracket(uint32_t depth) {
    if (depth > kMaxDepth) return unsupported("nesting this deep");
    take("[");
    const bool negated = take("^");
    CharRanges all = {{0, 0x10FFFF}};
    CharRanges current;
    bool first = true;
    while (first || !next_is("]")) {
      if (at_end()) return unsupported("an unclosed '['");
      if (next_is("[:")) return unsupported("a POSIX class");
      if (take("&&")) {
        all = intersect(all, current);
        current.clear();
        first = false;
        continue;
      }
      if (next_is("[")) {
        TANDEM_TRY(const CharRanges nested, bracket(depth + 1));
        current = unite(current, nested);
      } else {
        TANDEM_TRY(const CharRanges item, bracket_item());
        current = unite(current, item);
      }
      first = false;
    }
    take("]");
    all = cased(intersect(all, current));
    return negated ? complement(all) : std::move(all);
  }

  /// A character, an escape or a range between two characters.
  Result<CharRanges> bracket_item() {
    TANDEM_TRY(CharRanges low, bracket_char());
    const bool is_char = low.size() == 1 && low[0].first == low[0].last;
    const bool range = is_char && next_is("-") && !next_is("-]") && pos_ + 1 < source_.size();
    if (!range) return low;
    take("-");
    TANDEM_TRY(const CharRanges high, bracket_char());
    const bool valid = high.size() == 1 && high[0].first == high[0].last;
    if (!valid || high[0].first < low[0].first) return unsupported("this range");
    return CharRanges{{low[0].first, high[0].first}};
  }

  /// Case is folded over the whole bracket, so not yet here.
  Result<CharRanges> bracket_char() {
    const bool ignore_case = std::exchange(ignore_case_, false);
    Result<CharRanges> set = single_or_escape();
    ignore_case_ = ignore_case;
    return set;
  }

  std::string_view source_;
  size_t pos_ = 0;
  bool ignore_case_ = false;
};

}  // namespace

CharRanges word_chars() {
  CharRanges set = unite(property_ranges("L"), property_ranges("M"));
  set = unite(set, property_ranges("Nd"));
  set = unite(set, property_ranges("Pc"));
  // Oniguruma counts the superscripts and fractions of Latin-1 in as well.
  set = unite(set, {{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}});
  return unite(set, property_ranges("Alphabetic"));
}

Result<std::unique_ptr<PatternNode>> parse_pattern(std::string_view source) {
  return Parser(source).parse();
}

}  // namespace tandem
