#include <algorithm>

#include "text/tokenizer/pattern.h"
#include "text/tokenizer/pattern_syntax.h"

// Turns a pattern's syntax tree into instructions, and finds out which branches can begin with
// which ASCII character, so that most of them need not be tried.

namespace tandem {
namespace {

using Node = PatternNode;
using Kind = Node::Kind;

constexpr size_t kMaxSets = 64;
constexpr size_t kMaxBranches = 32;
constexpr size_t kMaxInstructions = 16384;

bool can_be_empty(const Node& node) {
  switch (node.kind) {
    case Kind::kSet:
      return false;
    case Kind::kSequence:
      return std::all_of(node.children.begin(), node.children.end(),
                         [](const auto& child) { return can_be_empty(*child); });
    case Kind::kAlternation:
      return std::any_of(node.children.begin(), node.children.end(),
                         [](const auto& child) { return can_be_empty(*child); });
    case Kind::kRepeat:
      return node.min == 0 || can_be_empty(*node.children[0]);
    default:
      return true;
  }
}

/// Characters that a non-empty match of `node` can begin with.
CharRanges first_chars(const Node& node) {
  switch (node.kind) {
    case Kind::kSet:
      return node.set;
    case Kind::kSequence: {
      CharRanges all;
      for (const auto& child : node.children) {
        all = unite(all, first_chars(*child));
        if (!can_be_empty(*child)) break;
      }
      return all;
    }
    case Kind::kAlternation: {
      CharRanges all;
      for (const auto& child : node.children) all = unite(all, first_chars(*child));
      return all;
    }
    case Kind::kRepeat:
      return first_chars(*node.children[0]);
    default:
      return {};
  }
}

}  // namespace

class PatternCompiler {
 public:
  explicit PatternCompiler(std::string_view source) : source_(source) {}

  Result<Pattern> compile() {
    TANDEM_TRY(const auto tree, parse_pattern(source_));
    TANDEM_TRY(pattern_.word_set_, set_index(word_chars()));
    const bool split = tree->kind == Kind::kAlternation && tree->children.size() <= kMaxBranches;
    if (split) {
      for (const auto& child : tree->children) TANDEM_TRY(add_branch(*child));
    } else {
      TANDEM_TRY(add_branch(*tree));
      TANDEM_TRY(find_leading_run(*tree));
    }
    return std::move(pattern_);
  }

 private:
  using Op = Pattern::Op;

  tl::unexpected<Error> unsupported(std::string_view what) const {
    return failure(ErrorCode::kUnsupported, "pattern \"{}\": {} is not supported",
                   source_.substr(0, 200), what);
  }

  Result<void> add_branch(const Node& node) {
    const auto index = static_cast<uint32_t>(pattern_.branches_.size());
    const bool empty = can_be_empty(node);
    const CharRanges first = empty ? CharRanges{{0, 0x10FFFF}} : first_chars(node);
    for (const CharRange& range : first) {
      for (uint32_t c = range.first; c <= range.last && c < 0x80; ++c) {
        pattern_.starts_[c] |= 1U << index;
      }
    }
    const bool non_ascii = !first.empty() && first.back().last >= 0x80;
    pattern_.branches_.push_back({here(), non_ascii});
    TANDEM_TRY(node.kind == Kind::kSequence ? emit_sequence(node, true) : emit(node));
    return add({Op::kMatch});
  }

  /// Runs that gain nothing by giving characters back become possessive, which saves the matcher
  /// their backtracking frames. `is_last`: nothing but the match follows the sequence.
  Result<void> emit_sequence(const Node& node, bool is_last) {
    const auto& items = node.children;
    for (size_t i = 0; i < items.size(); ++i) {
      const bool is_run = items[i]->kind == Kind::kRepeat &&
                          items[i]->children[0]->kind == Kind::kSet &&
                          items[i]->greed == Node::Greed::kGreedy;
      const bool possessive =
          is_run && ((is_last && rest_always_matches(items, i + 1)) ||
                     (i + 1 < items.size() && excludes(*items[i + 1], *items[i])));
      if (!possessive) {
        TANDEM_TRY(emit(*items[i]));
        continue;
      }
      TANDEM_TRY(const uint32_t set, set_index(items[i]->children[0]->set));
      TANDEM_TRY(add({Op::kRunPossessive, set, 0, items[i]->min, items[i]->max}));
    }
    return {};
  }

  static bool rest_always_matches(const std::vector<std::unique_ptr<Node>>& items, size_t from) {
    return std::all_of(items.begin() + static_cast<std::ptrdiff_t>(from), items.end(),
                       [](const auto& item) {
                         return item->kind == Kind::kRepeat && item->min == 0 &&
                                item->children[0]->kind == Kind::kSet;
                       });
  }

  /// Whether `next` must begin with a character that `run` cannot give back.
  static bool excludes(const Node& next, const Node& run) {
    const Node& set = next.kind == Kind::kRepeat ? *next.children[0] : next;
    const bool needs_one = next.kind == Kind::kSet || (next.kind == Kind::kRepeat && next.min > 0);
    return needs_one && set.kind == Kind::kSet && intersect(set.set, run.children[0]->set).empty();
  }

  Result<void> find_leading_run(const Node& tree) {
    const Node* first = &tree;
    while (first->kind == Kind::kSequence && !first->children.empty()) {
      first = first->children[0].get();
    }
    const bool is_run = first->kind == Kind::kRepeat && first->max == Node::kUnbounded &&
                        first->min <= 1 && first->children[0]->kind == Kind::kSet;
    if (!is_run) return {};
    TANDEM_TRY(const uint32_t set, set_index(first->children[0]->set));
    pattern_.leading_run_ = static_cast<int32_t>(set);
    return {};
  }

  uint32_t here() const { return static_cast<uint32_t>(pattern_.program_.size()); }

  Result<void> add(Pattern::Instruction instruction) {
    if (here() >= kMaxInstructions) return unsupported("a pattern this large");
    pattern_.program_.push_back(instruction);
    return {};
  }

  Result<uint32_t> set_index(const CharRanges& set) {
    const auto known = std::find(ranges_.begin(), ranges_.end(), set);
    const auto index = static_cast<uint32_t>(known - ranges_.begin());
    if (known != ranges_.end()) return index;
    if (ranges_.size() == kMaxSets) return unsupported("more than 64 character sets");
    ranges_.push_back(set);
    pattern_.sets_.emplace_back(set);
    for (uint32_t c = 0; c < 0x80; ++c) {
      const bool member = pattern_.sets_.back().contains(c);
      pattern_.ascii_[c] |= static_cast<uint64_t>(member) << index;
    }
    return index;
  }

  Result<void> emit(const Node& node) {
    switch (node.kind) {
      case Kind::kSet: {
        TANDEM_TRY(const uint32_t set, set_index(node.set));
        return add({Op::kChar, set});
      }
      case Kind::kSequence:
        return emit_sequence(node, false);
      case Kind::kAlternation:
        return emit_alternation(node);
      case Kind::kRepeat:
        return emit_repeat(node);
      case Kind::kLookAhead: {
        const uint32_t look = here();
        TANDEM_TRY(add({Op::kLook, 0, 0, node.negated ? 0U : 1U}));
        TANDEM_TRY(emit(*node.children[0]));
        TANDEM_TRY(add({Op::kMatch}));
        pattern_.program_[look].a = here();
        return {};
      }
      case Kind::kLookBehind: {
        TANDEM_TRY(const uint32_t set, set_index(node.set));
        return add({Op::kBehind, set, 0, node.negated ? 0U : 1U});
      }
      case Kind::kLineStart:
        return add({Op::kLineStart});
      case Kind::kLineEnd:
        return add({Op::kLineEnd});
      case Kind::kTextStart:
        return add({Op::kTextStart});
      case Kind::kTextEnd:
        return add({Op::kTextEnd});
      case Kind::kWordBoundary:
        return add({Op::kWordBoundary});
    }
    return {};
  }

  Result<void> emit_alternation(const Node& node) {
    std::vector<uint32_t> jumps;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool is_last = i + 1 == node.children.size();
      const uint32_t split = here();
      if (!is_last) TANDEM_TRY(add({Op::kSplit, split + 1}));
      TANDEM_TRY(emit(*node.children[i]));
      if (is_last) break;
      jumps.push_back(here());
      TANDEM_TRY(add({Op::kJump}));
      pattern_.program_[split].b = here();
    }
    for (const uint32_t jump : jumps) pattern_.program_[jump].a = here();
    return {};
  }

  Result<void> emit_repeat(const Node& node) {
    const Node& body = *node.children[0];
    const bool lazy = node.greed == Node::Greed::kLazy;
    if (body.kind == Kind::kSet && !lazy) {
      const bool possessive = node.greed == Node::Greed::kPossessive;
      TANDEM_TRY(const uint32_t set, set_index(body.set));
      return add({possessive ? Op::kRunPossessive : Op::kRun, set, 0, node.min, node.max});
    }
    if (node.greed == Node::Greed::kPossessive) return unsupported("a possessive group");
    if (can_be_empty(body)) return unsupported("repeating what can be empty");
    for (uint32_t i = 0; i < node.min; ++i) TANDEM_TRY(emit(body));
    if (node.max == Node::kUnbounded) {
      const uint32_t split = here();
      TANDEM_TRY(add({Op::kSplit}));
      TANDEM_TRY(emit(body));
      TANDEM_TRY(add({Op::kJump, split}));
      set_split(split, here(), lazy);
      return {};
    }
    std::vector<uint32_t> splits;
    for (uint32_t i = node.min; i < node.max; ++i) {
      splits.push_back(here());
      TANDEM_TRY(add({Op::kSplit}));
      TANDEM_TRY(emit(body));
    }
    for (const uint32_t split : splits) set_split(split, here(), lazy);
    return {};
  }

  /// The instruction at `split` goes on into the body that follows it or to `exit`.
  void set_split(uint32_t split, uint32_t exit, bool lazy) {
    pattern_.program_[split].a = lazy ? exit : split + 1;
    pattern_.program_[split].b = lazy ? split + 1 : exit;
  }

  std::string_view source_;
  Pattern pattern_;
  std::vector<CharRanges> ranges_;
};

Result<Pattern> Pattern::compile(std::string_view source) {
  return PatternCompiler(source).compile();
}

}  // namespace tandem
