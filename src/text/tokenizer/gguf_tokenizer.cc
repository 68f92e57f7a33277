#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/char_map.h"
#include "text/tokenizer/end_markers.h"
#include "text/tokenizer/piece_spelling.h"
#include "text/tokenizer/pre_tokenizer_names.h"
#include "text/tokenizer/score_model.h"
#include "text/tokenizer/tokenizer_impl.h"
#include "text/tokenizer/unicode_steps.h"
#include "text/tokenizer/unigram_model.h"

// Builds a tokenizer from GGUF's tokenizer.ggml.* keys. Every array is checked against the number
// of tokens before anything is read from it.

namespace tandem {
namespace {

constexpr size_t kMaxVocabulary = size_t{1} << 24;

class GgufLoader {
 public:
  GgufLoader(const Metadata& metadata, const TokenizerOptions& options)
      : metadata_(metadata), options_(options) {}

  Result<std::unique_ptr<const Tokenizer>> load() {
    TANDEM_TRY(kind_, metadata_.string("tokenizer.ggml.model"));
    const bool has_merges = kind_ == "gpt2" || kind_ == "gemma4";
    if (!has_merges && kind_ != "llama" && kind_ != "t5") {
      return failure(ErrorCode::kUnsupported,
                     "{}: tokenizer.ggml.model \"{}\" is not known; known are gpt2, gemma4, llama, "
                     "t5",
                     metadata_.source(), kind_);
    }
    if (has_merges) TANDEM_TRY(choose_pre_tokenizer());
    TANDEM_TRY(read_tokens());
    TANDEM_TRY(read_special_ids());
    if (has_merges) TANDEM_TRY(build_bpe());
    if (kind_ == "llama") TANDEM_TRY(build_score_model());
    if (kind_ == "t5") TANDEM_TRY(build_unigram());
    TANDEM_TRY(const std::vector<TokenId> end_ids, end_ids_of_file());
    collect_end_of_generation(*impl_, end_ids);
    TANDEM_TRY(choose_ends());
    return std::make_unique<const Tokenizer>(
        std::unique_ptr<const Tokenizer::Impl>(std::move(impl_)));
  }

 private:
  void warn(const std::string& message) const {
    if (options_.log) options_.log(LogLevel::kWarning, metadata_.source() + ": " + message);
  }

  template <class... Args>
  tl::unexpected<Error> corrupt(fmt::format_string<Args...> format, Args&&... args) const {
    return failure(ErrorCode::kCorruptFile, "{}: {}", metadata_.source(),
                   fmt::format(format, std::forward<Args>(args)...));
  }

  Result<void> choose_pre_tokenizer() {
    TANDEM_TRY(std::string name, metadata_.string_or("tokenizer.ggml.pre", ""));
    if (kind_ == "gemma4") name = "gemma4";
    if (!options_.pre_override.empty()) name = options_.pre_override;
    if (name.empty()) {
      warn(
          "tokenizer.ggml.pre is missing, so the pre-tokenizer \"default\" is assumed; if the "
          "model was trained with another one its answers will be worse: name it with --pre");
      name = "default";
    }
    auto named = pre_tokenizer_by_name(name);
    if (!named) return tl::unexpected<Error>(named.error().within(metadata_.source()));
    named_ = std::move(*named);
    impl_->pre_tokenizer = std::move(named_.pre_tokenizer);
    impl_->pre_tokenizer_name = name;
    if (named_.characters) impl_->normalizer.add(replace_string(std::string(kSpaceMarker), " "));
    return add_normal_form();
  }

  /// A key of ours: what the model's tokenizer.json normalises to, which GGUF has no key for.
  Result<void> add_normal_form() {
    constexpr std::string_view kKey = "tandem.tokenizer.normal_form";
    TANDEM_TRY(const std::string form, metadata_.string_or(kKey, ""));
    if (form.empty()) return {};
    for (const auto& [name, value] : {std::pair("NFC", NormalForm::kNfc),
                                      {"NFD", NormalForm::kNfd},
                                      {"NFKC", NormalForm::kNfkc},
                                      {"NFKD", NormalForm::kNfkd}}) {
      if (form != name) continue;
      impl_->normalizer.add(to_normal_form(value));
      return {};
    }
    return corrupt("{} is \"{}\", must be NFC, NFD, NFKC or NFKD", kKey, form);
  }

  /// A key of ours: GGUF's own name one end token of each kind, models declare several.
  Result<std::vector<TokenId>> end_ids_of_file() const {
    constexpr std::string_view kKey = "tandem.tokenizer.end_ids";
    std::vector<TokenId> out = options_.extra_end_ids;
    if (!metadata_.contains(kKey)) return out;
    TANDEM_TRY(const std::vector<int32_t> ids, metadata_.integers(kKey));
    for (const int32_t id : ids) {
      if (!impl_->vocabulary.contains(id)) {
        return corrupt("{} has {}, but there are {} tokens", kKey, id, impl_->vocabulary.size());
      }
      out.push_back(id);
    }
    return out;
  }

  /// The strings of an array key, without copying them.
  Result<const std::vector<std::string>*> strings(std::string_view key) const {
    const MetadataValue* value = metadata_.find(key);
    if (value == nullptr) {
      return failure(ErrorCode::kNotFound, "{}: {} is missing", metadata_.source(), key);
    }
    const auto* array = std::get_if<std::vector<std::string>>(value);
    if (array == nullptr) return corrupt("{} is not an array of strings", key);
    return array;
  }

  Result<std::vector<TokenKind>> token_kinds(size_t n_tokens) const {
    constexpr std::string_view kKey = "tokenizer.ggml.token_type";
    std::vector<TokenKind> kinds(n_tokens, TokenKind::kNormal);
    const MetadataValue* value = metadata_.find(kKey);
    if (value == nullptr) return kinds;
    std::vector<int64_t> types;
    if (const auto* i32 = std::get_if<std::vector<int32_t>>(value)) {
      types.assign(i32->begin(), i32->end());
    } else if (const auto* u32 = std::get_if<std::vector<uint32_t>>(value)) {
      types.assign(u32->begin(), u32->end());
    } else {
      return corrupt("{} is not an array of 32-bit integers", kKey);
    }
    if (types.size() != n_tokens) {
      return corrupt("{} has {} entries for {} tokens", kKey, types.size(), n_tokens);
    }
    for (size_t i = 0; i < n_tokens; ++i) {
      if (types[i] < 0 || types[i] > 6) return corrupt("{}[{}] is {}, over 6", kKey, i, types[i]);
      if (types[i] > 0) kinds[i] = static_cast<TokenKind>(types[i]);
    }
    return kinds;
  }

  Result<std::vector<float>> scores(size_t n_tokens) const {
    constexpr std::string_view kKey = "tokenizer.ggml.scores";
    std::vector<float> scores(n_tokens, 0.0F);
    const MetadataValue* value = metadata_.find(kKey);
    if (value == nullptr) return scores;
    size_t n_scores = 0;
    if (const auto* floats = std::get_if<std::vector<float>>(value)) {
      n_scores = floats->size();
      scores = *floats;
    } else if (const auto* integers = std::get_if<std::vector<int32_t>>(value)) {
      n_scores = integers->size();
      scores.assign(integers->begin(), integers->end());
    } else {
      return corrupt("{} is not an array of 32-bit floats", kKey);
    }
    if (n_scores != n_tokens) {
      return corrupt("{} has {} entries for {} tokens", kKey, n_scores, n_tokens);
    }
    for (size_t i = 0; i < n_tokens; ++i) {
      if (!std::isfinite(scores[i])) return corrupt("{}[{}] is {}", kKey, i, scores[i]);
    }
    return scores;
  }

  bool byte_level() const { return kind_ == "gpt2" && !named_.characters; }

  PieceSpelling spelling() const {
    return byte_level() ? PieceSpelling::kByteLevel : PieceSpelling::kMarkedSpaces;
  }

  Result<void> read_tokens() {
    TANDEM_TRY(const auto* texts, strings("tokenizer.ggml.tokens"));
    const size_t n_tokens = texts->size();
    if (n_tokens == 0 || n_tokens > kMaxVocabulary) {
      return corrupt("tokenizer.ggml.tokens has {} entries, outside 1 to {}", n_tokens,
                     kMaxVocabulary);
    }
    TANDEM_TRY(std::vector<TokenKind> kinds, token_kinds(n_tokens));
    TANDEM_TRY(const std::vector<float> scores, this->scores(n_tokens));
    size_t n_bytes = 0;
    for (const std::string& text : *texts) n_bytes += text.size();
    if (n_bytes > Vocabulary::kMaxBytes) {
      return corrupt("tokenizer.ggml.tokens has {} bytes", n_bytes);
    }
    Vocabulary& vocabulary = impl_->vocabulary;
    vocabulary.reserve(n_tokens, n_bytes);
    std::vector<AddedToken> added;
    const bool strips = strips_after_control();
    for (size_t i = 0; i < n_tokens; ++i) {
      const std::string& text = (*texts)[i];
      TokenKind kind = kinds[i];
      if (kind == TokenKind::kNormal && is_unmistakable_end_marker(text))
        kind = TokenKind::kControl;
      vocabulary.add(piece_bytes_of(text, kind, spelling()), kind, scores[i]);
      const bool control = kind == TokenKind::kControl || kind == TokenKind::kUnknown;
      if (!control && kind != TokenKind::kUserDefined) continue;
      AddedToken token{.text = text, .id = static_cast<TokenId>(i), .control = control};
      token.strip_right = strips && text != "<unk>" && text != "<s>" && text != "<|endoftext|>";
      added.push_back(std::move(token));
    }
    impl_->added = AddedTokens(std::move(added));
    const Vocabulary::Duplicates duplicates = vocabulary.build_index();
    if (duplicates.count > 0) {
      warn(
          fmt::format("{} tokens stand for the same bytes as an earlier one (first: {} and {}); "
                      "the lowest id is used",
                      duplicates.count, duplicates.first, duplicates.second));
    }
    return {};
  }

  /// Phi-3's control tokens swallow the white space after them, which GGUF has no key for.
  bool strips_after_control() const {
    std::string name = metadata_.string_or("general.name", "").value_or("");
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
  }

  Result<std::optional<TokenId>> special_id(std::string_view key) const {
    const std::string full = fmt::format("tokenizer.ggml.{}_token_id", key);
    if (!metadata_.contains(full)) return std::nullopt;
    TANDEM_TRY(const uint32_t id, metadata_.u32(full));
    const auto n_tokens = static_cast<uint32_t>(impl_->vocabulary.size());
    if (id >= n_tokens) return corrupt("{} is {}, but there are {} tokens", full, id, n_tokens);
    return static_cast<TokenId>(id);
  }

  Result<void> read_special_ids() {
    TANDEM_TRY(impl_->bos, special_id("bos"));
    TANDEM_TRY(impl_->eos, special_id("eos"));
    TANDEM_TRY(impl_->eot, special_id("eot"));
    TANDEM_TRY(impl_->eom, special_id("eom"));
    // Nothing depends on these, and files carry odd values for "none".
    impl_->unk = special_id("unknown").value_or(std::nullopt);
    impl_->pad = special_id("padding").value_or(std::nullopt);
    return {};
  }

  Result<void> build_bpe() {
    TANDEM_TRY(const auto* merges, strings("tokenizer.ggml.merges"));
    if (merges->size() >= UINT32_MAX) return corrupt("tokenizer.ggml.merges is too long");
    MergeTable table;
    table.reserve(merges->size());
    std::string joined;
    for (size_t rank = 0; rank < merges->size(); ++rank) {
      const std::string_view line = (*merges)[rank];
      const size_t space = line.find(' ', 1);
      if (space == std::string_view::npos) {
        return corrupt("tokenizer.ggml.merges[{}] \"{}\" is not two parts with a space between",
                       rank, line);
      }
      joined.clear();
      append_piece_bytes(joined, line.substr(0, space), spelling());
      const size_t cut = joined.size();
      append_piece_bytes(joined, line.substr(space + 1), spelling());
      if (!table.add_pieces(impl_->vocabulary, joined, cut, static_cast<uint32_t>(rank))) {
        return corrupt("tokenizer.ggml.merges[{}] \"{}\" names a piece that is no token", rank,
                       line);
      }
    }
    BpeOptions options;
    options.byte_level = byte_level();
    options.ignore_merges = named_.ignore_merges;
    options.byte_fallback = !byte_level();
    options.unk = impl_->unk.value_or(kNoToken);
    if (!byte_level()) cut_before_spaces_where_exact(*impl_);
    impl_->model = std::make_unique<BpeModel>(impl_->vocabulary, std::move(table), options);
    return {};
  }

  Result<void> require_scores() const {
    if (!metadata_.contains("tokenizer.ggml.scores")) {
      return failure(ErrorCode::kNotFound, "{}: tokenizer.ggml.scores is missing",
                     metadata_.source());
    }
    return {};
  }

  Result<void> build_score_model() {
    TANDEM_TRY(require_scores());
    impl_->normalizer.add(replace_string(std::string(kSpaceMarker), " "));
    TANDEM_TRY(impl_->space_before_text,
               metadata_.boolean_or("tokenizer.ggml.add_space_prefix", true));
    impl_->strip_first_space = impl_->space_before_text;
    cut_before_spaces_where_exact(*impl_);
    impl_->model = std::make_unique<ScoreModel>(impl_->vocabulary, impl_->unk.value_or(kNoToken));
    return {};
  }

  Result<void> build_unigram() {
    TANDEM_TRY(require_scores());
    if (!impl_->unk) {
      return failure(ErrorCode::kNotFound, "{}: tokenizer.ggml.unknown_token_id is missing",
                     metadata_.source());
    }
    TANDEM_TRY(const std::string char_map, char_map_bytes());
    if (!char_map.empty()) {
      auto map = CharMap::parse(char_map);
      if (!map) return tl::unexpected<Error>(map.error().within(metadata_.source()));
      impl_->normalizer.add(apply_char_map(std::move(*map)));
    }
    TANDEM_TRY(const bool prefix, metadata_.boolean_or("tokenizer.ggml.add_space_prefix", true));
    TANDEM_TRY(const bool squeeze,
               metadata_.boolean_or("tokenizer.ggml.remove_extra_whitespaces", false));
    impl_->normalizer.add(replace_string(std::string(kSpaceMarker), " "));
    impl_->normalizer.add(sentencepiece_spaces(prefix, squeeze));
    impl_->strip_first_space = prefix || squeeze;
    std::vector<double> scores;
    for (TokenId id = 0; id < impl_->vocabulary.size(); ++id) {
      const bool user_defined = impl_->vocabulary.kind(id) == TokenKind::kUserDefined;
      scores.push_back(user_defined ? 0.0 : impl_->vocabulary.score(id));
    }
    impl_->model =
        std::make_unique<UnigramModel>(impl_->vocabulary, std::move(scores), *impl_->unk, false);
    return {};
  }

  Result<std::string> char_map_bytes() const {
    constexpr std::string_view kKey = "tokenizer.ggml.precompiled_charsmap";
    const MetadataValue* value = metadata_.find(kKey);
    if (value == nullptr) return std::string();
    if (const auto* u8 = std::get_if<std::vector<uint8_t>>(value)) {
      return std::string(u8->begin(), u8->end());
    }
    if (const auto* i8 = std::get_if<std::vector<int8_t>>(value)) {
      return std::string(i8->begin(), i8->end());
    }
    return corrupt("{} is not an array of bytes", kKey);
  }

  /// Which of BOS and EOS are put around a text. No id in the file means no token, whatever the
  /// flag says: no default id is ever right.
  Result<void> choose_ends() {
    const bool bos_by_default = named_.adds_bos || kind_ == "gemma4" || kind_ == "llama";
    TANDEM_TRY(bool add_bos, metadata_.boolean_or("tokenizer.ggml.add_bos_token", bos_by_default));
    TANDEM_TRY(const bool add_eos,
               metadata_.boolean_or("tokenizer.ggml.add_eos_token", kind_ == "t5"));
    if (kind_ == "gemma4") add_bos = true;  // files of the model's first days say otherwise
    TANDEM_TRY(add_end(add_bos, "bos", impl_->bos, impl_->before_text));
    return add_end(add_eos, "eos", impl_->eos, impl_->after_text);
  }

  Result<void> add_end(bool wanted, std::string_view name, std::optional<TokenId> id,
                       std::vector<TokenId>& ends) const {
    if (!wanted) return {};
    if (id) {
      ends.push_back(*id);
    } else if (metadata_.contains(fmt::format("tokenizer.ggml.add_{}_token", name))) {
      warn(
          fmt::format("tokenizer.ggml.add_{0}_token is set without tokenizer.ggml.{0}_token_id, "
                      "so no such token is added",
                      name));
    }
    return {};
  }

  const Metadata& metadata_;
  const TokenizerOptions& options_;
  std::unique_ptr<Tokenizer::Impl> impl_ = std::make_unique<Tokenizer::Impl>();
  std::string kind_;
  NamedPreTokenizer named_;
};

}  // namespace

Result<std::unique_ptr<const Tokenizer>> Tokenizer::from_metadata(const Metadata& metadata,
                                                                  const TokenizerOptions& options) {
  return GgufLoader(metadata, options).load();
}

}  // namespace tandem
