#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/end_markers.h"
#include "text/tokenizer/json_ends.h"
#include "text/tokenizer/json_reader.h"
#include "text/tokenizer/json_steps.h"
#include "text/tokenizer/piece_spelling.h"
#include "text/tokenizer/pre_tokenizer_names.h"
#include "text/tokenizer/tokenizer_impl.h"
#include "text/tokenizer/unigram_model.h"

// Builds a tokenizer from a Hugging Face tokenizer.json. The vocabulary and the merges, nearly all
// of the file, are streamed; the rest becomes a small tree.

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxId = int64_t{1} << 24;

/// A piece on its way into the vocabulary.
struct Entry {
  std::string text;
  int64_t id;
  double score = 0;
};

class JsonLoader {
 public:
  JsonLoader(std::string_view text, const TokenizerOptions& options)
      : text_(text), options_(options) {}

  Result<std::unique_ptr<const Tokenizer>> load() {
    TANDEM_TRY(read_top_level());
    TANDEM_TRY(steps_, read_json_steps(top_["normalizer"], top_["pre_tokenizer"]));
    impl_->normalizer = std::move(steps_.normalizer);
    impl_->pre_tokenizer = std::move(steps_.pre_tokenizer);
    TANDEM_TRY(override_pre_tokenizer());
    TANDEM_TRY(read_model_settings());
    TANDEM_TRY(read_vocabulary());
    TANDEM_TRY(read_added_tokens());
    TANDEM_TRY(fill_vocabulary());
    TANDEM_TRY(build_model());
    TANDEM_TRY(JsonEnds ends,
               read_json_ends(top_["post_processor"], top_["decoder"], impl_->vocabulary.size()));
    impl_->before_text = std::move(ends.before_text);
    impl_->after_text = std::move(ends.after_text);
    impl_->strip_first_space = ends.strip_first_space;
    find_special_ids();
    collect_end_of_generation(*impl_, options_.extra_end_ids);
    return std::make_unique<const Tokenizer>(
        std::unique_ptr<const Tokenizer::Impl>(std::move(impl_)));
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
    top_ = Json::object();
    model_ = Json::object();
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
      TANDEM_TRY(top_[key], parse_small(raw));
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
        merges_text_ = raw;
      } else {
        TANDEM_TRY(model_[key], parse_small(raw));
      }
    }
  }

  Result<void> override_pre_tokenizer() {
    impl_->pre_tokenizer_name = "tokenizer.json";
    if (options_.pre_override.empty()) return {};
    TANDEM_TRY(NamedPreTokenizer named, pre_tokenizer_by_name(options_.pre_override));
    impl_->pre_tokenizer = std::move(named.pre_tokenizer);
    impl_->pre_tokenizer_name = options_.pre_override;
    steps_.byte_level = !named.characters;
    return {};
  }

  bool model_flag(const char* key) const {
    const auto found = model_.find(key);
    return found != model_.end() && found->is_boolean() && found->get<bool>();
  }
  std::string model_text(const char* key) const {
    const auto found = model_.find(key);
    return found != model_.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  Result<void> read_model_settings() {
    kind_ = model_text("type");
    // Old files leave the type out; only BPE has merges, only unigram an unk_id.
    if (kind_.empty() && !merges_text_.empty()) kind_ = "BPE";
    if (kind_.empty() && model_.contains("unk_id")) kind_ = "Unigram";
    if (kind_ != "BPE" && kind_ != "Unigram") return unsupported("model", kind_);
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model_text(key).empty()) return unsupported(key, model_text(key));
    }
    const auto dropout = model_.find("dropout");
    if (dropout != model_.end() && dropout->is_number() && dropout->get<double>() != 0) {
      return unsupported("model", "dropout");
    }
    return {};
  }

  Result<void> read_vocabulary() {
    JsonReader reader(vocab_text_);
    const bool is_list = kind_ == "Unigram";
    TANDEM_TRY(reader.expect(is_list ? '[' : '{'));
    bool first = true;
    while (true) {
      TANDEM_TRY(const bool more, reader.next_item(is_list ? ']' : '}', first));
      if (!more) break;
      Entry entry;
      entry.id = static_cast<int64_t>(entries_.size());
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
      entries_.push_back(std::move(entry));
    }
    return reader.expect_end();
  }

  Result<void> read_added_tokens() {
    const Json& list = top_["added_tokens"];
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
      if (!token.text.empty()) added_.push_back(std::move(token));
    }
    return {};
  }

  PieceSpelling spelling() const {
    if (steps_.byte_level) return PieceSpelling::kByteLevel;
    return steps_.marked_spaces ? PieceSpelling::kMarkedSpaces : PieceSpelling::kPlain;
  }

  /// Ids may come in any order and leave gaps, which become empty unused tokens; the gaps are
  /// bounded so that a small file cannot ask for a large table.
  Result<void> fill_vocabulary() {
    std::set<std::string_view> known;
    for (const AddedToken& token : added_) known.insert(token.text);
    for (const AddedToken& token : added_) entries_.push_back({token.text, token.id, 0});
    const size_t n_model = entries_.size() - added_.size();
    std::vector<size_t> order(entries_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return entries_[a].id < entries_[b].id; });
    if (entries_.empty()) return corrupt("the vocabulary is empty");
    const auto n_tokens = static_cast<size_t>(entries_[order.back()].id) + 1;
    if (n_tokens > 4 * entries_.size() + 65536) {
      return corrupt("ids go up to {}, but there are only {} tokens", n_tokens - 1,
                     entries_.size());
    }
    size_t n_bytes = 0;
    for (const Entry& entry : entries_) n_bytes += entry.text.size();
    if (n_bytes > Vocabulary::kMaxBytes) return corrupt("the vocabulary has {} bytes", n_bytes);
    Vocabulary& vocabulary = impl_->vocabulary;
    vocabulary.reserve(n_tokens, n_bytes);
    const std::string unk = model_text("unk_token");
    for (const size_t index : order) {
      const Entry& entry = entries_[index];
      if (entry.id < vocabulary.size()) {
        // Added tokens repeat entries of the model's vocabulary; they name the kind.
        TANDEM_TRY(merge_repeated(entry, index >= n_model));
        continue;
      }
      while (vocabulary.size() < entry.id) add_token("", TokenKind::kUnused, 0);
      TokenKind kind = TokenKind::kNormal;
      if (index >= n_model) {
        kind = added_[index - n_model].control ? TokenKind::kControl : TokenKind::kUserDefined;
      } else if (!unk.empty() && entry.text == unk && !known.contains(entry.text)) {
        kind = TokenKind::kUnknown;
      } else if (model_flag("byte_fallback") && byte_token_value(entry.text) >= 0) {
        kind = TokenKind::kByte;
      }
      last_text_ = entry.text;
      add_token(entry.text, kind, entry.score);
    }
    const Vocabulary::Duplicates duplicates = vocabulary.build_index();
    if (duplicates.count > 0 && options_.log) {
      options_.log(LogLevel::kWarning,
                   fmt::format("tokenizer.json: {} tokens stand for the same bytes as an earlier "
                               "one (first: {} and {}); the lowest id is used",
                               duplicates.count, duplicates.first, duplicates.second));
    }
    impl_->added = AddedTokens(std::move(added_));
    entries_.clear();
    return {};
  }

  void add_token(std::string_view text, TokenKind kind, double score) {
    impl_->vocabulary.add(piece_bytes_of(text, kind, spelling()), kind, static_cast<float>(score));
    scores_.push_back(score);
  }

  /// A second entry with the id of the token added last: fine when it has the same text.
  Result<void> merge_repeated(const Entry& entry, bool is_added) {
    if (entry.text != last_text_) {
      return corrupt("id {} belongs to both \"{}\" and \"{}\"", entry.id, last_text_, entry.text);
    }
    if (!is_added) return {};
    const auto token = std::find_if(added_.begin(), added_.end(), [&](const AddedToken& added) {
      return added.id == entry.id && added.text == entry.text;
    });
    const bool control = token != added_.end() && token->control;
    impl_->vocabulary.set_kind(static_cast<TokenId>(entry.id),
                               control ? TokenKind::kControl : TokenKind::kUserDefined);
    return {};
  }

  Result<void> build_model() {
    if (kind_ == "Unigram") return build_unigram();
    BpeOptions options;
    options.byte_level = steps_.byte_level;
    options.ignore_merges = model_flag("ignore_merges");
    options.byte_fallback = model_flag("byte_fallback");
    options.fuse_unk = model_flag("fuse_unk");
    const std::string unk = model_text("unk_token");
    if (!unk.empty()) {
      options.unk = find_token(unk);
      if (options.unk == kNoToken) return corrupt("unk_token \"{}\" is no token", unk);
      impl_->unk = options.unk;
    }
    if (spelling() == PieceSpelling::kMarkedSpaces) cut_before_spaces_where_exact(*impl_);
    TANDEM_TRY(MergeTable merges, read_merges());
    impl_->model = std::make_unique<BpeModel>(impl_->vocabulary, std::move(merges), options);
    return {};
  }

  Result<void> build_unigram() {
    TokenId unk = kNoToken;
    const auto found = model_.find("unk_id");
    if (found != model_.end() && found->is_number_unsigned()) {
      const auto id = found->get<uint64_t>();
      if (id >= scores_.size()) return corrupt("unk_id is {} of {} tokens", id, scores_.size());
      unk = static_cast<TokenId>(id);
      impl_->unk = unk;
    }
    impl_->model = std::make_unique<UnigramModel>(impl_->vocabulary, std::move(scores_), unk,
                                                  model_flag("byte_fallback"));
    return {};
  }

  TokenId find_token(std::string_view text) const {
    if (const auto added = impl_->added.find(text)) return *added;
    const std::string piece = piece_bytes_of(text, TokenKind::kNormal, spelling());
    for (TokenId id = 0; id < impl_->vocabulary.size(); ++id) {
      if (impl_->vocabulary.kind(id) == TokenKind::kUnknown) return id;
    }
    return impl_->vocabulary.find(piece);
  }

  /// "a b" or ["a", "b"], in order of rank.
  Result<MergeTable> read_merges() {
    MergeTable table;
    if (merges_text_.empty()) return corrupt("model.merges is missing");
    table.reserve(
        static_cast<size_t>(std::count(merges_text_.begin(), merges_text_.end(), '"') / 2));
    JsonReader reader(merges_text_);
    TANDEM_TRY(reader.expect('['));
    bool first = true;
    std::string left;
    std::string right;
    std::string joined;
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
      joined.clear();
      append_piece_bytes(joined, left, spelling());
      const size_t cut = joined.size();
      append_piece_bytes(joined, right, spelling());
      if (!table.add_pieces(impl_->vocabulary, joined, cut, rank)) {
        return corrupt("merge {} \"{}\" + \"{}\" names a piece that is no token", rank, left,
                       right);
      }
    }
    TANDEM_TRY(reader.expect_end());
    return table;
  }

  /// tokenizer.json names no roles: BOS and EOS are what the post-processor adds, else the usual
  /// names among the control tokens.
  void find_special_ids() {
    const auto control = [&](std::initializer_list<std::string_view> names) {
      std::optional<TokenId> found;
      for (const std::string_view name : names) {
        if (!found) found = impl_->added.find(name);
      }
      return found;
    };
    if (!impl_->before_text.empty()) impl_->bos = impl_->before_text.front();
    if (!impl_->bos) {
      impl_->bos = control(
          {"<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>", "<|startoftext|>"});
    }
    if (!impl_->after_text.empty()) impl_->eos = impl_->after_text.back();
    if (!impl_->eos) {
      impl_->eos = control({"</s>", "<eos>", "<|end_of_text|>", "<｜end▁of▁sentence｜>",
                            "<|endoftext|>", "<|return|>"});
    }
    impl_->eot = control({"<|eot_id|>", "<|im_end|>", "<end_of_turn>", "<turn|>", "<|end|>"});
    impl_->pad = control({"<pad>", "<|pad|>", "[PAD]", "<|endoftext|>"});
  }

  std::string_view text_;
  const TokenizerOptions& options_;
  std::unique_ptr<Tokenizer::Impl> impl_ = std::make_unique<Tokenizer::Impl>();
  Json top_;
  Json model_;
  std::string kind_;
  std::string_view vocab_text_;
  std::string_view merges_text_;
  JsonSteps steps_;
  std::vector<Entry> entries_;
  std::vector<AddedToken> added_;
  std::vector<double> scores_;
  std::string last_text_;
};

}  // namespace

Result<std::unique_ptr<const Tokenizer>> Tokenizer::from_json(std::string_view tokenizer_json,
                                                              const TokenizerOptions& options) {
  return JsonLoader(tokenizer_json, options).load();
}

}  // namespace tandem
