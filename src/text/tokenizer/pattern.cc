#include "text/tokenizer/pattern.h"

#include <algorithm>
#include <bit>

#include "text/tokenizer/pattern_syntax.h"
#include "text/unicode/utf8.h"

// The matcher: a small backtracking machine. Runs of one set, which patterns are mostly made of,
// are one instruction and one backtracking frame each.

namespace tandem {
namespace {

/// Start of the character that ends at `pos` > `begin`, when the text is read from `begin`.
size_t previous_char(std::string_view text, size_t begin, size_t pos) {
  for (size_t back = 2; back <= 4 && back <= pos - begin; ++back) {
    if (decode_utf8(text, pos - back).length == back) return pos - back;
  }
  return pos - 1;
}

}  // namespace

size_t Pattern::run_end(const Instruction& in, std::string_view text, size_t pos,
                        uint64_t* count) const {
  const uint64_t bit = uint64_t{1} << in.a;
  uint64_t n = 0;
  while (pos < text.size() && n < in.max) {
    const auto byte = static_cast<uint8_t>(text[pos]);
    if (byte < 0x80) {
      if ((ascii_[byte] & bit) == 0) break;
      ++pos;
    } else {
      const DecodedChar c = decode_utf8_multibyte(text, pos);
      if (!sets_[in.a].contains(c.code_point)) break;
      pos += c.length;
    }
    ++n;
  }
  *count = n;
  return pos;
}

bool Pattern::step_assertion(const Instruction& in, std::string_view text, size_t pos) const {
  switch (in.op) {
    case Op::kLineStart:
      return pos == 0 || text[pos - 1] == '\n';
    case Op::kLineEnd:
      return pos == text.size() || text[pos] == '\n';
    case Op::kTextStart:
      return pos == 0;
    case Op::kTextEnd:
      return pos == text.size();
    default:
      break;
  }
  const auto before = [&](uint32_t set) {
    return pos > 0 && in_set(set, decode_utf8(text, previous_char(text, 0, pos)).code_point);
  };
  if (in.op == Op::kBehind) return before(in.a) == (in.min == 1);
  const bool after = pos < text.size() && in_set(word_set_, decode_utf8(text, pos).code_point);
  return before(word_set_) != after;
}

// HOT: bench/tokenizer. One pass over the instructions is one attempt; it stays in one function so
// that its state stays in registers.
std::optional<size_t> Pattern::run(uint32_t pc, std::string_view text, size_t pos,
                                   Scratch& scratch) const {
  auto& stack = scratch.stack_;
  const size_t base = stack.size();
  while (true) {
    const Instruction& in = program_[pc];
    bool ok = true;
    switch (in.op) {
      case Op::kMatch:
        stack.resize(base);
        return pos;
      case Op::kJump:
        pc = in.a;
        continue;
      case Op::kSplit:
        stack.push_back({in.b, pos, Scratch::kNoRun});
        pc = in.a;
        continue;
      case Op::kChar: {
        ok = pos < text.size();
        if (!ok) break;
        const DecodedChar c = decode_utf8(text, pos);
        ok = in_set(in.a, c.code_point);
        pos += c.length;
        break;
      }
      case Op::kRun:
      case Op::kRunPossessive: {
        uint64_t count;
        const size_t end = run_end(in, text, pos, &count);
        scratch.spend(count);
        ok = count >= in.min;
        if (!ok) break;
        if (in.op == Op::kRun && count > in.min) {
          size_t shortest = pos;
          for (uint32_t i = 0; i < in.min; ++i) shortest += decode_utf8(text, shortest).length;
          stack.push_back({pc + 1, end, shortest});
        }
        pos = end;
        break;
      }
      case Op::kLook: {
        const bool found = run(pc + 1, text, pos, scratch).has_value();
        ok = found == (in.min == 1);
        if (ok) {
          pc = in.a;
          continue;
        }
        break;
      }
      default:
        ok = step_assertion(in, text, pos);
        break;
    }
    if (ok) {
      ++pc;
      continue;
    }
    // Back to the latest choice.
    scratch.spend(1);
    if (stack.size() == base || scratch.exhausted()) {
      stack.resize(base);
      return std::nullopt;
    }
    Scratch::Frame& frame = stack.back();
    pc = frame.pc;
    if (frame.shortest != Scratch::kNoRun) {
      frame.pos = previous_char(text, frame.shortest, frame.pos);
    }
    pos = frame.pos;
    if (frame.shortest == Scratch::kNoRun || frame.pos == frame.shortest) stack.pop_back();
  }
}

std::optional<size_t> Pattern::match_at(std::string_view text, size_t pos, Scratch& scratch) const {
  const bool has_ascii = pos < text.size() && static_cast<uint8_t>(text[pos]) < 0x80;
  if (has_ascii) {
    for (uint32_t left = starts_[static_cast<uint8_t>(text[pos])]; left != 0; left &= left - 1) {
      const Branch& branch = branches_[static_cast<size_t>(std::countr_zero(left))];
      if (const auto end = run(branch.start, text, pos, scratch)) return end;
    }
    return std::nullopt;
  }
  for (const Branch& branch : branches_) {
    if (!branch.non_ascii) continue;
    if (const auto end = run(branch.start, text, pos, scratch)) return end;
  }
  return std::nullopt;
}

std::optional<Pattern::Match> Pattern::find(std::string_view text, size_t from,
                                            Scratch& scratch) const {
  size_t pos = from;
  while (pos <= text.size() && !scratch.exhausted()) {
    if (const auto end = match_at(text, pos, scratch)) return Match{pos, *end};
    if (pos == text.size()) break;
    const DecodedChar c = decode_utf8(text, pos);
    if (leading_run_ >= 0 && in_set(static_cast<uint32_t>(leading_run_), c.code_point)) {
      const Instruction run{Op::kRun, static_cast<uint32_t>(leading_run_), 0, 0, UINT32_MAX};
      uint64_t count;
      pos = run_end(run, text, pos, &count);
    } else {
      pos += c.length;
    }
    scratch.spend(1);
  }
  return std::nullopt;
}

}  // namespace tandem
