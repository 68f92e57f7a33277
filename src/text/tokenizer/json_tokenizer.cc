#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/end_markers.h"
#include "text/tokenizer/json_ends.h"
#include "text/tokenizer/json_steps.h"
#include "text/tokenizer/piece_spelling.h"
#include "text/tokenizer/pre_tokenizer_names.h"
#include "text/tokenizer/tokenizer_impl.h"
#include "text/tokenizer/tokenizer_json.h"
#include "text/tokenizer/unigram_model.h"

// Builds a tokenizer from a Hugging Face tokenizer.json.

namespace tandem {
namespace {

using Json = nlohmann::json;

class JsonLoader {
 public:
  JsonLoader(std::string_view text, const TokenizerOptions& options)
      : text_(text), options_(options) {}

  Result<std::unique_ptr<const Tokenizer>> load() {
    TANDEM_TRY(file_, TokenizerJson::read(text_));
    TANDEM_TRY(steps_, read_json_steps(file_.top["normalizer"], file_.top["pre_tokenizer"]));
    impl_->normalizer = std::move(steps_.normalizer);
    impl_->pre_tokenizer = std::move(steps_.pre_tokenizer);
    TANDEM_TRY(override_pre_tokenizer());
    TANDEM_TRY(fill_vocabulary());
    TANDEM_TRY(build_model());
    TANDEM_TRY(JsonEnds ends, read_json_ends(file_.top["post_processor"], file_.top["decoder"],
                                             impl_->vocabulary.size()));
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
  Result<void> override_pre_tokenizer() {
    impl_->pre_tokenizer_name = "tokenizer.json";
    if (options_.pre_override.empty()) return {};
    TANDEM_TRY(NamedPreTokenizer named, pre_tokenizer_by_name(options_.pre_override));
    impl_->pre_tokenizer = std::move(named.pre_tokenizer);
    impl_->pre_tokenizer_name = options_.pre_override;
    steps_.byte_level = !named.characters;
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
    for (const AddedToken& token : file_.added) known.insert(token.text);
    for (const AddedToken& token : file_.added) file_.tokens.push_back({token.text, token.id, 0});
    const size_t n_model = file_.tokens.size() - file_.added.size();
    std::vector<size_t> order(file_.tokens.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return file_.tokens[a].id < file_.tokens[b].id; });
    if (file_.tokens.empty()) return corrupt("the vocabulary is empty");
    const auto n_tokens = static_cast<size_t>(file_.tokens[order.back()].id) + 1;
    if (n_tokens > 4 * file_.tokens.size() + 65536) {
      return corrupt("ids go up to {}, but there are only {} tokens", n_tokens - 1,
                     file_.tokens.size());
    }
    size_t n_bytes = 0;
    for (const JsonToken& entry : file_.tokens) n_bytes += entry.text.size();
    if (n_bytes > Vocabulary::kMaxBytes) return corrupt("the vocabulary has {} bytes", n_bytes);
    Vocabulary& vocabulary = impl_->vocabulary;
    vocabulary.reserve(n_tokens, n_bytes);
    const std::string unk = file_.model_text("unk_token");
    for (const size_t index : order) {
      const JsonToken& entry = file_.tokens[index];
      if (entry.id < vocabulary.size()) {
        // Added tokens repeat entries of the model's vocabulary; they name the kind.
        TANDEM_TRY(merge_repeated(entry, index >= n_model));
        continue;
      }
      while (vocabulary.size() < entry.id) add_token("", TokenKind::kUnused, 0);
      TokenKind kind = TokenKind::kNormal;
      if (index >= n_model) {
        kind = file_.added[index - n_model].control ? TokenKind::kControl : TokenKind::kUserDefined;
      } else if (!unk.empty() && entry.text == unk && !known.contains(entry.text)) {
        kind = TokenKind::kUnknown;
      } else if (file_.model_flag("byte_fallback") && byte_token_value(entry.text) >= 0) {
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
    impl_->added = AddedTokens(std::move(file_.added));
    file_.tokens.clear();
    return {};
  }

  void add_token(std::string_view text, TokenKind kind, double score) {
    impl_->vocabulary.add(piece_bytes_of(text, kind, spelling()), kind, static_cast<float>(score));
    scores_.push_back(score);
  }

  /// A second entry with the id of the token added last: fine when it has the same text.
  Result<void> merge_repeated(const JsonToken& entry, bool is_added) {
    if (entry.text != last_text_) {
      return corrupt("id {} belongs to both \"{}\" and \"{}\"", entry.id, last_text_, entry.text);
    }
    if (!is_added) return {};
    const auto token = std::find_if(
        file_.added.begin(), file_.added.end(),
        [&](const AddedToken& added) { return added.id == entry.id && added.text == entry.text; });
    const bool control = token != file_.added.end() && token->control;
    impl_->vocabulary.set_kind(static_cast<TokenId>(entry.id),
                               control ? TokenKind::kControl : TokenKind::kUserDefined);
    return {};
  }

  Result<void> build_model() {
    if (file_.kind == "Unigram") return build_unigram();
    BpeOptions options;
    options.byte_level = steps_.byte_level;
    options.ignore_merges = file_.model_flag("ignore_merges");
    options.byte_fallback = file_.model_flag("byte_fallback");
    options.fuse_unk = file_.model_flag("fuse_unk");
    const std::string unk = file_.model_text("unk_token");
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
    const auto found = file_.model.find("unk_id");
    if (found != file_.model.end() && found->is_number_unsigned()) {
      const auto id = found->get<uint64_t>();
      if (id >= scores_.size()) return corrupt("unk_id is {} of {} tokens", id, scores_.size());
      unk = static_cast<TokenId>(id);
      impl_->unk = unk;
    }
    impl_->model = std::make_unique<UnigramModel>(impl_->vocabulary, std::move(scores_), unk,
                                                  file_.model_flag("byte_fallback"));
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

  Result<MergeTable> read_merges() {
    MergeTable table;
    const std::string_view text = file_.merges_text;
    table.reserve(static_cast<size_t>(std::count(text.begin(), text.end(), '"') / 2));
    std::string joined;
    TANDEM_TRY(file_.for_each_merge([&](uint32_t rank, const std::string& left,
                                        const std::string& right) -> Result<void> {
      joined.clear();
      append_piece_bytes(joined, left, spelling());
      const size_t cut = joined.size();
      append_piece_bytes(joined, right, spelling());
      if (table.add_pieces(impl_->vocabulary, joined, cut, rank)) return {};
      return corrupt("merge {} \"{}\" + \"{}\" names a piece that is no token", rank, left, right);
    }));
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
  TokenizerJson file_;
  JsonSteps steps_;
  std::vector<double> scores_;
  std::string last_text_;
};

}  // namespace

Result<std::unique_ptr<const Tokenizer>> Tokenizer::from_json(std::string_view tokenizer_json,
                                                              const TokenizerOptions& options) {
  return JsonLoader(tokenizer_json, options).load();
}

}  // namespace tandem
