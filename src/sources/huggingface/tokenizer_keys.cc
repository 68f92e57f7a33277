// A Hugging Face tokenizer under GGUF's keys.

#include "sources/huggingface/tokenizer_keys.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "text/tokenizer/json_ends.h"
#include "text/tokenizer/json_steps.h"
#include "text/tokenizer/piece_spelling.h"
#include "text/tokenizer/pre_tokenizer_names.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/tokenizer_json.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxTokenizerBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxTemplateBytes = uint64_t{4} << 20;

/// GGUF's numbers of token kinds.
enum TokenType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

std::string type_of(const Json& object) {
  const auto found = object.is_object() ? object.find("type") : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Calls `use` for a step of tokenizer.json, or for each of a sequence's.
template <class Use>
void for_each_step(const Json& step, const char* list_name, const Use& use, int depth = 0) {
  if (!step.is_object() || depth > 8) return;
  const auto list = step.find(list_name);
  if (type_of(step) != "Sequence" || list == step.end() || !list->is_array()) return use(step);
  for (const Json& item : *list) for_each_step(item, list_name, use, depth + 1);
}

class KeyWriter {
 public:
  KeyWriter(TokenizerJson& file, const JsonConfig& config, const TokenizerFolder& folder,
            Metadata& metadata, const LogSink& log)
      : file_(file), config_(config), folder_(folder), metadata_(metadata), log_(log) {}

  Result<void> write() {
    TANDEM_TRY(steps_, read_json_steps(file_.top["normalizer"], file_.top["pre_tokenizer"]));
    if (file_.kind != "BPE") return unsupported("a model of kind " + file_.kind);
    if (!steps_.byte_level && !steps_.marked_spaces) {
      return unsupported("a BPE model that spells spaces as they are");
    }
    add_configured_tokens();
    TANDEM_TRY(place_tokens());
    if (steps_.byte_level) {
      TANDEM_TRY(write_byte_level());
    } else {
      TANDEM_TRY(write_marked_spaces());
    }
    TANDEM_TRY(write_special_ids());
    TANDEM_TRY(write_ends());
    metadata_.set("tokenizer.ggml.tokens", std::move(texts_));
    metadata_.set("tokenizer.ggml.token_type", std::move(types_));
    return {};
  }

 private:
  void warn(const std::string& text) const {
    if (log_) log_(LogLevel::kWarning, folder_.folder + "/tokenizer.json: " + text);
  }
  tl::unexpected<Error> unsupported(const std::string& what) const {
    return failure(ErrorCode::kUnsupported,
                   "{}/tokenizer.json: {} cannot be written under GGUF's keys", folder_.folder,
                   what);
  }
  void set(const char* name, auto value) {
    metadata_.set(std::string("tokenizer.ggml.") + name, std::move(value));
  }

  /// Tokens that only tokenizer_config.json has.
  void add_configured_tokens() {
    const Json* list = config_.find("added_tokens_decoder");
    if (list == nullptr || !list->is_object()) return;
    for (const auto& [key, item] : list->items()) {
      const bool is_id = !key.empty() && key.size() < 9 &&
                         key.find_first_not_of("0123456789") == std::string::npos;
      if (!is_id || !item.is_object()) continue;
      const auto content = item.find("content");
      if (content == item.end() || !content->is_string()) continue;
      const auto id = static_cast<TokenId>(std::stol(key));
      const auto same = [&](const AddedToken& token) { return token.id == id; };
      if (std::any_of(file_.added.begin(), file_.added.end(), same)) continue;
      AddedToken token;
      token.text = content->get<std::string>();
      token.id = id;
      const auto special = item.find("special");
      token.control = special != item.end() && special->is_boolean() && special->get<bool>();
      if (!token.text.empty()) file_.added.push_back(std::move(token));
    }
  }

  /// Every id below the number of embedding rows gets a text; ids that nobody names are fillers.
  Result<void> place_tokens() {
    int64_t largest = -1;
    for (const JsonToken& token : file_.tokens) largest = std::max(largest, token.id);
    const uint64_t n = folder_.vocabulary;
    if (largest >= static_cast<int64_t>(n)) {
      return failure(ErrorCode::kCorruptFile,
                     "{}/tokenizer.json: has token {}, but the embedding has only {} rows",
                     folder_.folder, largest, n);
    }
    texts_.resize(n);
    types_.assign(n, kUnused);
    const std::string unk = file_.model_text("unk_token");
    const bool has_byte_tokens = file_.model_flag("byte_fallback");
    for (const JsonToken& token : file_.tokens) {
      TANDEM_TRY(place(token.id, token.text, kNormal));
      const bool is_byte = has_byte_tokens && byte_token_value(token.text) >= 0;
      if (is_byte) types_[static_cast<size_t>(token.id)] = kByte;
      if (!unk.empty() && token.text == unk) types_[static_cast<size_t>(token.id)] = kUnknown;
    }
    TANDEM_TRY(place_added_tokens());
    for (size_t id = 0; id < n; ++id) {
      if (types_[id] == kUnused) texts_[id] = fmt::format("[PAD{}]", id);
    }
    return {};
  }

  Result<void> place(int64_t id, const std::string& text, TokenType type) {
    const auto index = static_cast<size_t>(id);
    if (types_[index] != kUnused && texts_[index] != text) {
      return failure(ErrorCode::kCorruptFile,
                     "{}/tokenizer.json: id {} belongs to both \"{}\" and \"{}\"", folder_.folder,
                     id, texts_[index], text);
    }
    texts_[index] = text;
    types_[index] = type;
    return {};
  }

  Result<void> place_added_tokens() {
    size_t n_outside = 0;
    for (const AddedToken& token : file_.added) {
      if (token.id < 0 || static_cast<uint64_t>(token.id) >= folder_.vocabulary) {
        ++n_outside;
        continue;
      }
      const TokenType before = static_cast<TokenType>(types_[static_cast<size_t>(token.id)]);
      TANDEM_TRY(place(token.id, token.text, token.control ? kControl : kUserDefined));
      // Runs of the space marker are ordinary pieces: no text has that marker when they are sought.
      const bool only_spaces =
          steps_.marked_spaces &&
          token.text.find_first_not_of(std::string(kSpaceMarker)) == std::string::npos;
      if (before == kUnknown || (before == kNormal && only_spaces)) {
        types_[static_cast<size_t>(token.id)] = before;
      }
    }
    if (n_outside > 0) {
      warn(fmt::format("{} added tokens have no row in the embedding and are left out", n_outside));
    }
    return {};
  }

  Result<void> write_byte_level() {
    auto named = pre_tokenizer_name_of(steps_.pre_tokenizer, file_.model_flag("ignore_merges"));
    if (!named) return tl::unexpected(named.error().within(folder_.folder + "/tokenizer.json"));
    if (named->empty()) return unsupported("a pre-tokenizer that cuts as none of the known ones");
    std::vector<std::string> merges;
    TANDEM_TRY(file_.for_each_merge(
        [&](uint32_t, const std::string& left, const std::string& right) -> Result<void> {
          merges.push_back(left + " " + right);
          return {};
        }));
    set("model", std::string("gpt2"));
    set("pre", *std::move(named));
    set("merges", std::move(merges));
    write_normal_form();
    return {};
  }

  /// GGUF has no key for a normal form, so this one is ours; other readers leave it out.
  void write_normal_form() {
    for_each_step(file_.top["normalizer"], "normalizers", [&](const Json& step) {
      const std::string type = type_of(step);
      if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
        metadata_.set("tandem.tokenizer.normal_form", type);
      } else if (type != "ByteLevel") {
        warn("the normalizer \"" + type + "\" is left out");
      }
    });
  }

  /// SentencePiece's models merge the pair whose result has the best score; a merge list merges
  /// the pair listed first. So a piece scores as the first merge that makes it.
  Result<void> write_marked_spaces() {
    std::unordered_map<std::string_view, size_t> ids;
    for (size_t id = 0; id < texts_.size(); ++id) ids.emplace(texts_[id], id);
    constexpr float kNeverMade = -1e9f;
    std::vector<float> scores(texts_.size(), 0.0f);
    for (size_t id = 0; id < texts_.size(); ++id) {
      if (types_[id] == kNormal) scores[id] = kNeverMade;
    }
    std::string joined;
    TANDEM_TRY(file_.for_each_merge(
        [&](uint32_t rank, const std::string& left, const std::string& right) -> Result<void> {
          joined = left + right;
          const auto found = ids.find(joined);
          if (found == ids.end()) {
            return failure(ErrorCode::kCorruptFile,
                           "{}/tokenizer.json: merge {} makes \"{}\", which is no token",
                           folder_.folder, rank, joined);
          }
          float& score = scores[found->second];
          if (score == kNeverMade) score = -static_cast<float>(rank) - 1.0f;
          return {};
        }));
    set("model", std::string("llama"));
    set("pre", std::string("default"));
    set("scores", std::move(scores));
    set("add_space_prefix", adds_space_prefix());
    return {};
  }

  bool adds_space_prefix() const {
    bool adds = false;
    for_each_step(file_.top["normalizer"], "normalizers",
                  [&](const Json& step) { adds |= type_of(step) == "Prepend"; });
    for_each_step(file_.top["pre_tokenizer"], "pretokenizers", [&](const Json& step) {
      if (type_of(step) != "Metaspace") return;
      const auto scheme = step.find("prepend_scheme");
      const auto flag = step.find("add_prefix_space");
      const bool says_scheme = scheme != step.end() && scheme->is_string();
      adds |= says_scheme ? *scheme != "never" : flag == step.end() || *flag != false;
    });
    return adds;
  }

  /// "</s>", or {"content": "</s>"}.
  std::optional<uint32_t> configured_id(const char* name) const {
    const Json* value = config_.find(name);
    if (value == nullptr) return std::nullopt;
    const Json content = value->is_object() ? value->value("content", Json()) : *value;
    if (!content.is_string()) return std::nullopt;
    return id_of(content.get_ref<const std::string&>());
  }

  std::optional<uint32_t> id_of(const std::string& text) const {
    for (const AddedToken& token : file_.added) {
      if (token.text == text && static_cast<uint64_t>(token.id) < texts_.size()) {
        return static_cast<uint32_t>(token.id);
      }
    }
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    if (found == texts_.end()) return std::nullopt;
    return static_cast<uint32_t>(found - texts_.begin());
  }

  Result<void> write_special_ids() {
    std::vector<uint32_t> ends;
    for (const uint32_t id : folder_.end_ids) {
      if (id >= texts_.size()) {
        return failure(ErrorCode::kCorruptFile,
                       "{}: eos_token_id {} is outside the vocabulary of {} tokens", folder_.folder,
                       id, texts_.size());
      }
      ends.push_back(id);
    }
    std::optional<uint32_t> eos = configured_id("eos_token");
    if (!eos && !ends.empty()) eos = ends.front();
    if (eos) set("eos_token_id", *eos);
    bos_ = configured_id("bos_token");
    if (const auto pad = configured_id("pad_token")) set("padding_token_id", *pad);
    auto unk = configured_id("unk_token");
    if (!unk && !file_.model_text("unk_token").empty()) unk = id_of(file_.model_text("unk_token"));
    if (unk) set("unknown_token_id", *unk);
    eos_ = eos;
    std::erase_if(ends, [&](uint32_t id) { return id == eos; });
    if (!ends.empty()) {
      metadata_.set("tandem.tokenizer.end_ids", std::vector<int32_t>(ends.begin(), ends.end()));
    }
    return {};
  }

  /// Which tokens stand around a text: the post-processor says so, except for the classes that
  /// write it anew from tokenizer_config.json.
  Result<void> write_ends() {
    TANDEM_TRY(const JsonEnds ends, read_json_ends(file_.top["post_processor"], Json(),
                                                   static_cast<int32_t>(texts_.size())));
    if (!bos_ && !ends.before_text.empty()) bos_ = static_cast<uint32_t>(ends.before_text.front());
    bool adds_bos = bos_ && !ends.before_text.empty();
    bool adds_eos = eos_ && !ends.after_text.empty();
    TANDEM_TRY(const std::string kind, config_.string_or("tokenizer_class", ""));
    if (kind.starts_with("Llama") || kind.starts_with("Gemma") || kind.starts_with("CodeLlama")) {
      TANDEM_TRY(adds_bos, config_.boolean_or("add_bos_token", adds_bos));
      TANDEM_TRY(adds_eos, config_.boolean_or("add_eos_token", adds_eos));
    }
    if (bos_) set("bos_token_id", *bos_);
    set("add_bos_token", adds_bos && bos_.has_value());
    set("add_eos_token", adds_eos && eos_.has_value());
    return {};
  }

  TokenizerJson& file_;
  const JsonConfig& config_;
  const TokenizerFolder& folder_;
  Metadata& metadata_;
  const LogSink& log_;
  JsonSteps steps_;
  std::vector<std::string> texts_;
  std::vector<int32_t> types_;
  std::optional<uint32_t> bos_;
  std::optional<uint32_t> eos_;
};

/// Both readings must give the same ids; where GGUF's keys say too little, better to know it.
Result<void> compare_readings(std::string_view tokenizer_json, const Metadata& metadata,
                              const std::string& folder, const LogSink& log) {
  if (!log) return {};
  TANDEM_TRY(const auto theirs, Tokenizer::from_json(tokenizer_json));
  TANDEM_TRY(const auto ours, Tokenizer::from_metadata(metadata));
  TANDEM_TRY(const auto wanted, theirs->encode(pre_tokenizer_probe()));
  TANDEM_TRY(const auto got, ours->encode(pre_tokenizer_probe()));
  if (got == wanted) return {};
  const auto [a, b] = std::mismatch(got.begin(), got.end(), wanted.begin(), wanted.end());
  log(LogLevel::kWarning,
      fmt::format(
          "{}/tokenizer.json: read through GGUF's keys it gives other ids for a sample text, "
          "first at token {}",
          folder, a - got.begin()));
  return {};
}

Result<void> read_chat_templates(const std::string& folder, const JsonConfig& config,
                                 Metadata& metadata) {
  const std::string jinja = folder + "/chat_template.jinja";
  std::error_code error;
  if (std::filesystem::exists(jinja, error)) {
    TANDEM_TRY(std::string text, read_text_file(jinja, kMaxTemplateBytes));
    metadata.set("tokenizer.chat_template", std::move(text));
    return {};
  }
  TANDEM_TRY(const JsonConfig file, JsonConfig::load_if_present(folder + "/chat_template.json"));
  for (const JsonConfig* source : {&file, &config}) {
    const Json* value = source->find("chat_template");
    if (value != nullptr) return chat_template_to_keys(source->source(), *value, metadata);
  }
  return {};
}

}  // namespace

Result<void> chat_template_to_keys(const std::string& source, const Json& value,
                                   Metadata& metadata) {
  if (value.is_null()) return {};
  if (value.is_string()) {
    metadata.set("tokenizer.chat_template", value.get<std::string>());
    return {};
  }
  std::vector<std::string> names;
  if (!value.is_array()) {
    return failure(ErrorCode::kCorruptFile, "{}: chat_template must be a string or a list", source);
  }
  for (const Json& item : value) {
    const bool valid = item.is_object() && item.contains("name") && item["name"].is_string() &&
                       item.contains("template") && item["template"].is_string();
    if (!valid) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: chat_template has an entry without name and template", source);
    }
    const auto name = item["name"].get<std::string>();
    const std::string key = name == "default" ? "" : "." + name;
    metadata.set("tokenizer.chat_template" + key, item["template"].get<std::string>());
    if (name != "default") names.push_back(name);
  }
  if (!names.empty()) metadata.set("tokenizer.chat_templates", std::move(names));
  return {};
}

Result<void> tokenizer_json_to_keys(std::string_view tokenizer_json, const JsonConfig& config,
                                    const TokenizerFolder& folder, Metadata& metadata,
                                    const LogSink& log) {
  TANDEM_TRY(TokenizerJson file, TokenizerJson::read(tokenizer_json));
  TANDEM_TRY(KeyWriter(file, config, folder, metadata, log).write());
  return compare_readings(tokenizer_json, metadata, folder.folder, log);
}

Result<void> read_tokenizer_keys(const TokenizerFolder& folder, Metadata& metadata,
                                 const LogSink& log) {
  TANDEM_TRY(const JsonConfig config,
             JsonConfig::load_if_present(folder.folder + "/tokenizer_config.json"));
  TANDEM_TRY(read_chat_templates(folder.folder, config, metadata));
  const std::string path = folder.folder + "/tokenizer.json";
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    TANDEM_TRY(const std::string text, read_text_file(path, kMaxTokenizerBytes));
    return tokenizer_json_to_keys(text, config, folder, metadata, log);
  }
  for (const char* other : {"tokenizer.model", "tekken.json", "vocab.json"}) {
    if (!std::filesystem::exists(folder.folder + "/" + other, error)) continue;
    return failure(ErrorCode::kUnsupported,
                   "{}: has {} but no tokenizer.json, which we read; save the tokenizer with "
                   "Transformers' AutoTokenizer to get one",
                   folder.folder, other);
  }
  if (log) {
    log(LogLevel::kWarning,
        folder.folder + ": has no tokenizer.json, so the model takes and gives ids only");
  }
  return {};
}

}  // namespace tandem
