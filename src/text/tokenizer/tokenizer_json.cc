#include "text/tokenizer/tokenizer_json.h"

#include <fmt/format.h>

#include <utility>

#include "text/tokenizer/json_reader.h"

// Takes a tokenizer.json apart.

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxId = int64_t{1} << 24;

template <class... Args>
tl::unexpected<Error> corrupt(fmt::format_string<Args...> format, Args&&... args) {
  return failure(ErrorCode::kCorruptFile, "tokenizer.json: {}",
                 fmt::format(format, std::forward<Args>(args)...));
}
tl::unexpected<Error> unsupported(std::string_view part, std::string_view what) {
  return failure(ErrorCode::kUnsupported, "tokenizer.json: {} \"{}\" is not supported", part, what);
}

class FileReader {
 public:
  explicit FileReader(std::string_view text) : text_(text) {}

  Result<TokenizerJson> read() {
    TANDEM_TRY(read_top_level());
    TANDEM_TRY(read_model_settings());
    TANDEM_TRY(read_vocabulary());
    TANDEM_TRY(read_added_tokens());
    return std::move(file_);
  }

 private:
  static Result<Json> parse_small(std::string_view text) {
    Json value = Json::parse(text, nullptr, false);
    if (value.is_discarded()) return corrupt("\"{}\" is not valid JSON", text.substr(0, 60));
    return value;
  }

  /// Members of the top level and of "model" go into trees, "vocab" and "merges" excepted.
  Result<void> read_top_level() {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    JsonReader reader(text_);
    TANDEM_TRY(reader.expect('{'));
    file_.top = Json::object();
    file_.model = Json::object();
    bool first = true;
    std::string key;
    while (true) {
      TANDEM_TRY(const bool more, reader.next_item('}', first));
      if (!more) break;
      TANDEM_TRY(reader.string(key));
      TANDEM_TRY(reader.expect(':'));
      if (key == "model") {
        TANDEM_TRY(read_model_members(reader));
        continue;
      }
      TANDEM_TRY(const std::string_view raw, reader.raw_value());
      TANDEM_TRY(file_.top[key], parse_small(raw));
    }
    return reader.expect_end();
  }

  Result<void> read_model_members(JsonReader& reader) {
    TANDEM_TRY(reader.expect('{'));
    bool first = true;
    std::string key;
    while (true) {
      TANDEM_TRY(const bool more, reader.next_item('}', first));
      if (!more) return {};
      TANDEM_TRY(reader.string(key));
      TANDEM_TRY(reader.expect(':'));
      TANDEM_TRY(const std::string_view raw, reader.raw_value());
      if (key == "vocab") {
        vocab_text_ = raw;
      } else if (key == "merges") {
        file_.merges_text = raw;
      } else {
        TANDEM_TRY(file_.model[key], parse_small(raw));
      }
    }
  }

  Result<void> read_model_settings() {
    file_.kind = file_.model_text("type");
    // Old files leave the type out; only BPE has merges, only unigram an unk_id.
    if (file_.kind.empty() && !file_.merges_text.empty()) file_.kind = "BPE";
    if (file_.kind.empty() && file_.model.contains("unk_id")) file_.kind = "Unigram";
    if (file_.kind != "BPE" && file_.kind != "Unigram") return unsupported("model", file_.kind);
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!file_.model_text(key).empty()) return unsupported(key, file_.model_text(key));
    }
    const auto dropout = file_.model.find("dropout");
    if (dropout != file_.model.end() && dropout->is_number() && dropout->get<double>() != 0) {
      return unsupported("model", "dropout");
    }
    return {};
  }

  Result<void> read_vocabulary() {
    JsonReader reader(vocab_text_);
    const bool is_list = file_.kind == "Unigram";
    TANDEM_TRY(reader.expect(is_list ? '[' : '{'));
    bool first = true;
    while (true) {
      TANDEM_TRY(const bool more, reader.next_item(is_list ? ']' : '}', first));
      if (!more) break;
      JsonToken entry;
      entry.id = static_cast<int64_t>(file_.tokens.size());
      if (is_list) TANDEM_TRY(reader.expect('['));
      TANDEM_TRY(reader.string(entry.text));
      TANDEM_TRY(reader.expect(is_list ? ',' : ':'));
      if (is_list) {
        TANDEM_TRY(entry.score, reader.number());
        TANDEM_TRY(reader.expect(']'));
      } else {
        TANDEM_TRY(entry.id, reader.integer());
      }
      if (entry.id < 0 || entry.id >= kMaxId) {
        return corrupt("token \"{}\" has id {}, outside 0 to {}", entry.text, entry.id, kMaxId - 1);
      }
      file_.tokens.push_back(std::move(entry));
    }
    return reader.expect_end();
  }

  Result<void> read_added_tokens() {
    const Json& list = file_.top["added_tokens"];
    if (list.is_null()) return {};
    if (!list.is_array()) return corrupt("added_tokens is not an array");
    for (const Json& item : list) {
      const bool valid = item.is_object() && item.contains("id") &&
                         item["id"].is_number_integer() && item.contains("content") &&
                         item["content"].is_string();
      if (!valid) return corrupt("added_tokens has an entry without id and content");
      const auto id = item["id"].get<int64_t>();
      AddedToken token;
      token.text = item["content"].get<std::string>();
      if (id < 0 || id >= kMaxId) {
        return corrupt("added token \"{}\" has id {}, outside 0 to {}", token.text, id, kMaxId - 1);
      }
      const auto flag = [&](const char* key) {
        return item.contains(key) && item[key].is_boolean() && item[key].get<bool>();
      };
      token.id = static_cast<TokenId>(id);
      token.control = flag("special");
      token.strip_left = flag("lstrip");
      token.strip_right = flag("rstrip");
      token.single_word = flag("single_word");
      token.normalized = flag("normalized");
      if (!token.text.empty()) file_.added.push_back(std::move(token));
    }
    return {};
  }

  std::string_view text_;
  std::string_view vocab_text_;
  TokenizerJson file_;
};

}  // namespace

bool TokenizerJson::model_flag(const char* key) const {
  const auto found = model.find(key);
  return found != model.end() && found->is_boolean() && found->get<bool>();
}

std::string TokenizerJson::model_text(const char* key) const {
  const auto found = model.find(key);
  return found != model.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<void> TokenizerJson::for_each_merge(const MergeSink& sink) const {
  if (merges_text.empty()) return corrupt("model.merges is missing");
  JsonReader reader(merges_text);
  TANDEM_TRY(reader.expect('['));
  bool first = true;
  std::string left;
  std::string right;
  for (uint32_t rank = 0;; ++rank) {
    TANDEM_TRY(const bool more, reader.next_item(']', first));
    if (!more) break;
    if (reader.next_is('[')) {
      TANDEM_TRY(reader.expect('['));
      TANDEM_TRY(reader.string(left));
      TANDEM_TRY(reader.expect(','));
      TANDEM_TRY(reader.string(right));
      TANDEM_TRY(reader.expect(']'));
    } else {
      TANDEM_TRY(reader.string(left));
      const size_t space = left.find(' ', 1);
      if (space == std::string::npos) {
        return corrupt("merge {} \"{}\" is not two parts with a space between", rank, left);
      }
      right = left.substr(space + 1);
      left.resize(space);
    }
    TANDEM_TRY(sink(rank, left, right));
  }
  return reader.expect_end();
}

Result<TokenizerJson> TokenizerJson::read(std::string_view text) { return FileReader(text).read(); }

}  // namespace tandem
