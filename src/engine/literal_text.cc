// Marks the control tokens in what users wrote, so that a template's own can be told from them.

#include "engine/literal_text.h"

#include <algorithm>

#include "text/unicode/utf8.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 200;

/// Unicode's noncharacters, which no honest text holds: U+FDD0 to U+FDEF.
std::string noncharacter(int i) { return {'\xEF', '\xB7', static_cast<char>(0x90 + i)}; }
constexpr int kNoncharacters = 32;

size_t first_character_length(std::string_view text, size_t at) {
  return decode_utf8(text, at).length;
}

bool holds(const Json& json, std::string_view text, int depth) {
  if (depth > kMaxDepth) return false;
  if (json.is_string()) return json.get_ref<const std::string&>().find(text) != std::string::npos;
  if (!json.is_structured()) return false;
  for (const auto& [key, value] : json.items()) {
    if (json.is_object() && key.find(text) != std::string::npos) return true;
    if (holds(value, text, depth + 1)) return true;
  }
  return false;
}

/// Templates compare these with words of their own or build markers of them, `<|` + role + `|>`, so
/// what is no whole control token in itself is left alone.
bool is_keyword(std::string_view key) { return key == "role" || key == "type"; }

}  // namespace

LiteralText::LiteralText(const Tokenizer& tokenizer) {
  for (TokenId id = 0; id < tokenizer.n_tokens(); ++id) {
    if (!tokenizer.is_control(id) || tokenizer.piece_bytes(id).empty()) continue;
    sorted_.emplace_back(tokenizer.piece_bytes(id));
  }
  std::sort(sorted_.begin(), sorted_.end());
  for (uint32_t i = 0; i < sorted_.size(); ++i) {
    trie_.add(sorted_[i], i);
    longest_ = std::max(longest_, sorted_[i].size());
  }
}

bool LiteralText::may_begin(std::string_view text) const {
  const auto next = std::lower_bound(sorted_.begin(), sorted_.end(), text);
  return next != sorted_.end() && next->starts_with(text);
}

std::vector<size_t> LiteralText::breaks(std::string_view text, End end) const {
  std::vector<size_t> out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (!trie_.begins_with(static_cast<uint8_t>(text[at]))) continue;
    const bool goes_on = end == End::kMayGoOn && text.size() - at < longest_;
    if (trie_.longest_at(text, at) || (goes_on && may_begin(text.substr(at)))) {
      out.push_back(at + first_character_length(text, at));
    }
  }
  return out;
}

std::string LiteralText::marked(const std::string& text, std::string_view mark, End end) const {
  std::string out;
  size_t done = 0;
  for (const size_t at : breaks(text, end)) {
    out.append(text, done, at - done).append(mark);
    done = at;
  }
  return out.append(text, done);
}

bool LiteralText::needs_marks(const Json& json, End end, int depth) const {
  if (depth > kMaxDepth) return false;
  if (json.is_string()) return !breaks(json.get_ref<const std::string&>(), end).empty();
  if (!json.is_structured()) return false;
  for (const auto& [key, value] : json.items()) {
    if (json.is_object() && !breaks(key, End::kComplete).empty()) return true;
    const End value_end = json.is_array() ? end : is_keyword(key) ? End::kComplete : End::kMayGoOn;
    if (needs_marks(value, value_end, depth + 1)) return true;
  }
  return false;
}

void LiteralText::mark_strings(Json& json, std::string_view mark, End end, int depth) const {
  if (depth > kMaxDepth) return;
  if (json.is_string()) {
    json = marked(json.get_ref<const std::string&>(), mark, end);
  } else if (json.is_array()) {
    for (Json& item : json) mark_strings(item, mark, end, depth + 1);
  } else if (json.is_object()) {
    Json changed = Json::object();
    for (auto& [key, value] : json.items()) {
      mark_strings(value, mark, is_keyword(key) ? End::kComplete : End::kMayGoOn, depth + 1);
      changed[marked(key, mark, End::kComplete)] = std::move(value);
    }
    json = std::move(changed);
  }
}

Result<std::string> LiteralText::mark(Json& json, std::string_view template_source) const {
  if (!needs_marks(json, End::kMayGoOn, 0)) return std::string();
  for (int i = 0; i < kNoncharacters; ++i) {
    const std::string mark = noncharacter(i);
    if (holds(json, mark, 0) || template_source.find(mark) != std::string_view::npos) continue;
    mark_strings(json, mark, End::kMayGoOn, 0);
    return mark;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "the messages spell out control tokens and hold all {} noncharacters U+FDD0 to "
                 "U+FDEF; leave one of these out",
                 kNoncharacters);
}

BrokenText LiteralText::unmark(std::string text, std::string_view mark) {
  if (mark.empty()) return {std::move(text), {}};
  BrokenText out;
  size_t done = 0;
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, done)) {
    out.text.append(text, done, at - done);
    out.breaks.push_back(out.text.size());
    done = at + mark.size();
  }
  out.text.append(text, done);
  return out;
}

}  // namespace tandem
