#include "text/tokenizer/json_ends.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

// Reads the "post_processor" and "decoder" objects of tokenizer.json.

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 8;

class EndsReader {
 public:
  explicit EndsReader(int32_t n_tokens) : n_tokens_(n_tokens) {}

  Result<JsonEnds> read(const Json& post_processor, const Json& decoder) {
    TANDEM_TRY(read_post_processor(post_processor, 0));
    TANDEM_TRY(read_decoder(decoder, 0));
    return std::move(ends_);
  }

 private:
  template <class... Args>
  static tl::unexpected<Error> corrupt(fmt::format_string<Args...> format, Args&&... args) {
    return failure(ErrorCode::kCorruptFile, "tokenizer.json: {}",
                   fmt::format(format, std::forward<Args>(args)...));
  }
  static tl::unexpected<Error> unsupported(std::string_view part, std::string_view what) {
    return failure(ErrorCode::kUnsupported, "tokenizer.json: {} \"{}\" is not supported", part,
                   what);
  }

  /// Which tokens go before and after the text.
  Result<void> read_post_processor(const Json& object, int depth) {
    if (!object.is_object() || depth > kMaxDepth) return {};
    const auto type = object.find("type");
    const std::string name =
        type != object.end() && type->is_string() ? type->get<std::string>() : std::string();
    if (name == "Sequence" && object.contains("processors") && object["processors"].is_array()) {
      for (const Json& item : object["processors"]) {
        TANDEM_TRY(read_post_processor(item, depth + 1));
      }
      return {};
    }
    if (name == "BertProcessing" || name == "RobertaProcessing") {
      TANDEM_TRY(add_pair(object, "cls", ends_.before_text));
      return add_pair(object, "sep", ends_.after_text);
    }
    if (name == "TemplateProcessing") return read_template(object);
    if (name == "ByteLevel" || name == "Sequence") return {};
    return unsupported("post-processor", name);
  }

  /// ["<s>", 0]
  Result<void> add_pair(const Json& object, const char* key, std::vector<TokenId>& ids) const {
    const auto pair = object.find(key);
    const bool valid = pair != object.end() && pair->is_array() && pair->size() == 2 &&
                       (*pair)[1].is_number_unsigned();
    if (!valid) return corrupt("post_processor.{} is not a token and an id", key);
    return add_id((*pair)[1].get<uint64_t>(), ids);
  }

  Result<void> add_id(uint64_t id, std::vector<TokenId>& ids) const {
    if (id >= static_cast<uint64_t>(n_tokens_)) {
      return corrupt("post_processor names id {} of {} tokens", id, n_tokens_);
    }
    ids.push_back(static_cast<TokenId>(id));
    return {};
  }

  Result<void> read_template(const Json& object) {
    const auto single = object.find("single");
    if (single == object.end() || !single->is_array()) {
      return corrupt("post_processor.single is not an array");
    }
    bool before = true;
    for (const Json& item : *single) {
      if (item.is_object() && item.contains("Sequence")) before = false;
      if (!item.is_object() || !item.contains("SpecialToken")) continue;
      const Json& special = item["SpecialToken"];
      const bool named = special.is_object() && special.contains("id") && special["id"].is_string();
      if (!named) return corrupt("post_processor has a special token without a name");
      const auto name = special["id"].get<std::string>();
      auto& ids = before ? ends_.before_text : ends_.after_text;
      const auto known = object.find("special_tokens");
      const bool listed = known != object.end() && known->is_object() && known->contains(name) &&
                          (*known)[name].is_object() && (*known)[name].contains("ids") &&
                          (*known)[name]["ids"].is_array();
      if (!listed) return corrupt("post_processor does not say which token \"{}\" is", name);
      for (const Json& id : (*known)[name]["ids"]) {
        if (!id.is_number_unsigned()) return corrupt("post_processor: an id is no number");
        TANDEM_TRY(add_id(id.get<uint64_t>(), ids));
      }
    }
    return {};
  }

  /// Pieces are bytes already, so of a decoder only what it does to the first space is left.
  Result<void> read_decoder(const Json& object, int depth) {
    if (!object.is_object() || depth > kMaxDepth) return {};
    const auto type = object.find("type");
    const std::string name =
        type != object.end() && type->is_string() ? type->get<std::string>() : std::string();
    if (name == "Sequence" && object.contains("decoders") && object["decoders"].is_array()) {
      for (const Json& item : object["decoders"]) TANDEM_TRY(read_decoder(item, depth + 1));
      return {};
    }
    if (name == "Strip") {
      const bool at_start = object.contains("content") && object["content"] == " " &&
                            object.contains("start") && object["start"].is_number_unsigned() &&
                            object["start"].get<uint64_t>() > 0;
      ends_.strip_first_space = ends_.strip_first_space || at_start;
      return {};
    }
    if (name == "Metaspace") {
      const bool never = object.contains("prepend_scheme") && object["prepend_scheme"] == "never";
      const bool no_prefix =
          object.contains("add_prefix_space") && object["add_prefix_space"] == false;
      ends_.strip_first_space = !never && !no_prefix;
      return {};
    }
    const bool plain = name == "ByteLevel" || name == "ByteFallback" || name == "Fuse" ||
                       name == "Replace" || name == "Sequence";
    if (!plain) return unsupported("decoder", name);
    return {};
  }

  int32_t n_tokens_;
  JsonEnds ends_;
};

}  // namespace

Result<JsonEnds> read_json_ends(const Json& post_processor, const Json& decoder, int32_t n_tokens) {
  return EndsReader(n_tokens).read(post_processor, decoder);
}

}  // namespace tandem
