#include "text/tokenizer/json_steps.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "text/tokenizer/base64.h"
#include "text/tokenizer/piece_spelling.h"
#include "text/tokenizer/unicode_steps.h"

// Translates the "normalizer" and "pre_tokenizer" objects of tokenizer.json.

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 16;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_of(const Json& object, const char* key, bool otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

/// A regular expression that matches exactly `text`.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                              (c >= 'a' && c <= 'z') || static_cast<uint8_t>(c) >= 0x80;
    if (c == '\n') {
      out += "\\n";
    } else {
      if (!alphanumeric) out += '\\';
      out += c;
    }
  }
  return out;
}

/// Steps without settings; empty when `type` is none of them.
Normalizer::Step simple_step(std::string_view type) {
  if (type == "NFC") return to_normal_form(NormalForm::kNfc);
  if (type == "NFD") return to_normal_form(NormalForm::kNfd);
  if (type == "NFKC") return to_normal_form(NormalForm::kNfkc);
  if (type == "NFKD") return to_normal_form(NormalForm::kNfkd);
  if (type == "Lowercase") return lowercase();
  if (type == "StripAccents") return strip_accents();
  if (type == "Nmt") return nmt();
  return {};
}

class StepReader {
 public:
  Result<JsonSteps> read(const Json& normalizer, const Json& pre_tokenizer) {
    TANDEM_TRY(add_normalizer(normalizer, 0));
    TANDEM_TRY(add_pre_tokenizer(pre_tokenizer, 0));
    return std::move(steps_);
  }

 private:
  static tl::unexpected<Error> unsupported(std::string_view part, std::string_view what) {
    return failure(ErrorCode::kUnsupported, "tokenizer.json: {} \"{}\" is not supported", part,
                   what);
  }

  Result<void> for_each(const Json& object, const char* key, int depth,
                        Result<void> (StepReader::*add)(const Json&, int)) {
    const auto list = object.find(key);
    if (list == object.end() || !list->is_array()) return {};
    for (const Json& item : *list) TANDEM_TRY((this->*add)(item, depth + 1));
    return {};
  }

  Result<void> add_normalizer(const Json& object, int depth) {
    if (object.is_null()) return {};
    const std::string type = object.is_object() ? text_of(object, "type") : std::string();
    if (depth > kMaxDepth) return unsupported("normalizer nesting", type);
    Normalizer& steps = steps_.normalizer;
    if (type == "Sequence") {
      return for_each(object, "normalizers", depth, &StepReader::add_normalizer);
    }
    if (Normalizer::Step step = simple_step(type)) {
      steps.add(std::move(step));
      return {};
    }
    if (type == "Strip") {
      steps.add(strip(flag_of(object, "strip_left", true), flag_of(object, "strip_right", true)));
      return {};
    }
    if (type == "Prepend") {
      const std::string prefix = text_of(object, "prepend");
      steps.add(prepend_string(prefix == kSpaceMarker ? " " : prefix));
      return {};
    }
    if (type == "Replace") return add_replace(object);
    if (type == "Precompiled") return add_char_map(object);
    if (type == "ByteLevel") {
      steps_.byte_level = true;
      return {};
    }
    return unsupported("normalizer", type);
  }

  Result<void> add_replace(const Json& object) {
    const auto pattern = object.find("pattern");
    if (pattern == object.end() || !pattern->is_object()) {
      return unsupported(
          "Replace pattern",
          object.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 100));
    }
    const std::string content = text_of(object, "content");
    if (pattern->contains("Regex")) {
      TANDEM_TRY(Pattern compiled, Pattern::compile(text_of(*pattern, "Regex")));
      steps_.normalizer.add(replace_pattern(std::move(compiled), content));
      return {};
    }
    const std::string from = text_of(*pattern, "String");
    if (from == " " && content == kSpaceMarker) {
      mark_spaces();
    } else {
      steps_.normalizer.add(replace_string(from, content));
    }
    return {};
  }

  /// The model's space is U+2581 from here on; ours stays a space, so a literal U+2581 becomes one.
  void mark_spaces() {
    steps_.marked_spaces = true;
    steps_.normalizer.add(replace_string(std::string(kSpaceMarker), " "));
  }

  Result<void> add_char_map(const Json& object) {
    TANDEM_TRY(const std::string bytes, decode_base64(text_of(object, "precompiled_charsmap")));
    TANDEM_TRY(CharMap map, CharMap::parse(bytes));
    steps_.normalizer.add(apply_char_map_by_cluster(std::move(map)));
    return {};
  }

  Result<void> add_pre_tokenizer(const Json& object, int depth) {
    if (object.is_null()) return {};
    const std::string type = object.is_object() ? text_of(object, "type") : std::string();
    if (depth > kMaxDepth) return unsupported("pre-tokenizer nesting", type);
    PreTokenizer& words = steps_.pre_tokenizer;
    if (type == "Sequence") {
      return for_each(object, "pretokenizers", depth, &StepReader::add_pre_tokenizer);
    }
    if (type == "Split") return add_split(object);
    if (type == "ByteLevel") return add_byte_level(object);
    if (type == "Metaspace") return add_metaspace(object);
    if (type == "Digits") {
      return words.add_pattern(flag_of(object, "individual_digits", false) ? R"(\p{N})"
                                                                           : R"(\p{N}+)");
    }
    if (type == "Punctuation") {
      TANDEM_TRY(const SplitBehavior behavior, behavior_of(object, "Isolated"));
      return words.add_pattern(R"([\p{P}!-/:-@\[-`{-~])", behavior);
    }
    if (type == "Whitespace") {
      return words.add_pattern(R"(\w+|[^\w\s]+)", SplitBehavior::kRemoved, true);
    }
    if (type == "WhitespaceSplit") {
      return words.add_pattern(R"(\s)", SplitBehavior::kRemoved);
    }
    if (type == "BertPreTokenizer") {
      TANDEM_TRY(words.add_pattern(R"(\s)", SplitBehavior::kRemoved));
      return words.add_pattern(R"([\p{P}!-/:-@\[-`{-~])");
    }
    if (type == "CharDelimiterSplit") {
      return words.add_pattern(escaped(text_of(object, "delimiter")), SplitBehavior::kRemoved);
    }
    if (type == "FixedLength") {
      const auto length = object.find("length");
      const bool valid = length != object.end() && length->is_number_unsigned();
      words.add_fixed_length(valid ? length->get<size_t>() : 5);
      return {};
    }
    return unsupported("pre-tokenizer", type);
  }

  static Result<SplitBehavior> behavior_of(const Json& object, std::string_view otherwise) {
    const std::string name =
        object.contains("behavior") ? text_of(object, "behavior") : std::string(otherwise);
    if (name == "Isolated") return SplitBehavior::kIsolated;
    if (name == "Removed") return SplitBehavior::kRemoved;
    if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
    if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
    if (name == "Contiguous") return SplitBehavior::kContiguous;
    return unsupported("split behavior", name);
  }

  Result<void> add_split(const Json& object) {
    TANDEM_TRY(const SplitBehavior behavior, behavior_of(object, ""));
    const bool invert = flag_of(object, "invert", false);
    const auto pattern = object.find("pattern");
    if (pattern == object.end() || !pattern->is_object())
      return unsupported("pre-tokenizer", "Split");
    if (pattern->contains("Regex")) {
      return steps_.pre_tokenizer.add_pattern(text_of(*pattern, "Regex"), behavior, invert);
    }
    const std::string literal = text_of(*pattern, "String");
    // No space is left for it to match once they are all marked.
    if (steps_.marked_spaces && literal == " ") return {};
    return steps_.pre_tokenizer.add_pattern(escaped(literal), behavior, invert);
  }

  Result<void> add_byte_level(const Json& object) {
    steps_.byte_level = true;
    if (flag_of(object, "add_prefix_space", true)) {
      steps_.pre_tokenizer.add_prefix(" ", false);
    }
    if (!flag_of(object, "use_regex", true)) return {};
    return steps_.pre_tokenizer.add_pattern(
        R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)");
  }

  Result<void> add_metaspace(const Json& object) {
    const std::string replacement = text_of(object, "replacement");
    if (replacement != kSpaceMarker) return unsupported("Metaspace replacement", replacement);
    mark_spaces();
    std::string scheme = text_of(object, "prepend_scheme");
    if (scheme.empty()) scheme = flag_of(object, "add_prefix_space", true) ? "always" : "never";
    if (scheme != "never") steps_.pre_tokenizer.add_prefix(" ", scheme == "first");
    if (flag_of(object, "split", true)) steps_.pre_tokenizer.add_cut_before_each_space();
    return {};
  }

  JsonSteps steps_;
};

}  // namespace

Result<JsonSteps> read_json_steps(const Json& normalizer, const Json& pre_tokenizer) {
  return StepReader().read(normalizer, pre_tokenizer);
}

}  // namespace tandem
