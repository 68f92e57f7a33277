#include "text/tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "text/tokenizer/tokenizer_impl.h"
#include "text/tokenizer/word_cache.h"
#include "text/unicode/utf8.h"

// The way of a text: added tokens are cut out, the rest is normalised, cut into words and encoded
// word by word.

namespace tandem {
namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 31;

/// Encodes each word as it comes.
class ModelSink : public WordSink {
 public:
  /// `cache` is null where offsets are wanted, which it does not keep.
  ModelSink(const TokenModel& model, ModelScratch& scratch, WordCache* cache,
            std::vector<TokenId>& ids, std::vector<TokenSink::Span>* spans)
      : model_(model), scratch_(scratch), cache_(cache), ids_(ids), sink_(ids, spans) {}

  // HOT: bench/tokenizer.
  void add(const Word& word) override {
    WordCache::Entry* entry = cache_ ? cache_->entry_of(word.text) : nullptr;
    if (entry == nullptr) {
      model_.encode(word, scratch_, sink_);
      return;
    }
    if (entry->holds(word.text)) {
      ids_.insert(ids_.end(), entry->tokens.begin(), entry->tokens.begin() + entry->n_tokens);
      return;
    }
    const size_t before = ids_.size();
    model_.encode(word, scratch_, sink_);
    const size_t n_tokens = ids_.size() - before;
    if (n_tokens <= WordCache::kMaxTokens) entry->set(word.text, ids_.data() + before, n_tokens);
  }

 private:
  const TokenModel& model_;
  ModelScratch& scratch_;
  WordCache* cache_;
  std::vector<TokenId>& ids_;
  TokenSink sink_;
};

/// One encode call.
class Encoder {
 public:
  Encoder(const Tokenizer::Impl& impl, std::string_view text, EncodeOptions options,
          std::vector<TokenSpan>* spans)
      : impl_(impl),
        text_(text),
        options_(options),
        spans_(spans),
        cache_(spans ? 0 : text.size()) {}

  Result<std::vector<TokenId>> run() {
    if (text_.size() >= kMaxTextBytes) {
      return failure(ErrorCode::kInvalidArgument, "tokenizer: a text of {} bytes is over {}",
                     text_.size(), kMaxTextBytes - 1);
    }
    ids_.reserve(text_.size() / 4 + 8);
    AddedTokens::IsLiteral is_literal;
    if (!options_.breaks.empty()) {
      is_literal = [this](size_t begin, size_t end) { return has_break(begin, end); };
    }
    for (const auto& part : impl_.added.split(text_, false, options_.parse_special, is_literal)) {
      if (part.token) {
        add_token(part.token->id, part.begin, part.end);
      } else {
        TANDEM_TRY(add_text(part.begin, part.end));
      }
    }
    if (options_.add_special) add_ends();
    return std::move(ids_);
  }

 private:
  /// A token of one character has no inside: a break behind it counts.
  bool has_break(size_t begin, size_t end) const {
    const auto next = std::upper_bound(options_.breaks.begin(), options_.breaks.end(), begin);
    if (next == options_.breaks.end() || *next > end) return false;
    return *next < end || end - begin == decode_utf8(text_, begin).length;
  }

  void add_token(TokenId id, size_t begin, size_t end) {
    ids_.push_back(id);
    if (spans_) spans_->push_back({id, begin, end});
  }

  /// Ordinary text: normalised, searched for the tokens that live in normalised text, then encoded.
  Result<void> add_text(size_t begin, size_t end) {
    const bool has_breaks = !options_.breaks.empty();
    NormalizedText normalized(text_.substr(begin, end - begin), spans_ != nullptr || has_breaks);
    if (impl_.space_before_text && begin == 0) {
      TANDEM_TRY(prepend_string(" ")(normalized));
    }
    TANDEM_TRY(impl_.normalizer.apply(normalized));
    AddedTokens::IsLiteral is_literal;
    if (has_breaks) {
      is_literal = [&](size_t from, size_t to) {
        return has_break(begin + normalized.source_begin(from),
                         begin + normalized.source_end(from, to));
      };
    }
    for (const auto& part :
         impl_.added.split(normalized.text(), true, options_.parse_special, is_literal)) {
      if (part.token) {
        add_token(part.token->id, begin + normalized.source_begin(part.begin),
                  begin + normalized.source_end(part.begin, part.end));
        continue;
      }
      const Word word{normalized.text().substr(part.begin, part.end - part.begin), part.begin};
      TANDEM_TRY(add_words(word, begin, normalized));
    }
    return {};
  }

  Result<void> add_words(const Word& word, size_t begin, const NormalizedText& normalized) {
    const size_t n_before = ids_.size();
    std::vector<TokenSink::Span> found;
    ModelSink words(*impl_.model, scratch_, spans_ ? nullptr : &cache_, ids_,
                    spans_ ? &found : nullptr);
    TANDEM_TRY(impl_.pre_tokenizer.split(word, begin == 0 && word.begin == 0, words));
    for (size_t i = 0; i < found.size(); ++i) {
      spans_->push_back({ids_[n_before + i], begin + normalized.source_begin(found[i].begin),
                         begin + normalized.source_end(found[i].begin, found[i].end)});
    }
    return {};
  }

  /// BOS and EOS, unless the text already wrote them out (a template that prints BOS).
  void add_ends() {
    const auto& before = impl_.before_text;
    const bool has_bos = impl_.bos && !ids_.empty() && ids_[0] == *impl_.bos;
    if (!(has_bos && before.size() == 1 && before[0] == *impl_.bos)) {
      ids_.insert(ids_.begin(), before.begin(), before.end());
      if (spans_) {
        std::vector<TokenSpan> front;
        for (const TokenId id : before) front.push_back({id, 0, 0});
        spans_->insert(spans_->begin(), front.begin(), front.end());
      }
    }
    for (const TokenId id : impl_.after_text) add_token(id, text_.size(), text_.size());
  }

  const Tokenizer::Impl& impl_;
  std::string_view text_;
  EncodeOptions options_;
  std::vector<TokenSpan>* spans_;
  std::vector<TokenId> ids_;
  ModelScratch scratch_;
  WordCache cache_;
};

}  // namespace

void cut_before_spaces_where_exact(Tokenizer::Impl& impl) {
  // Runs of unknown characters may become one token, which a space without a token would be part
  // of.
  if (impl.vocabulary.find(" ") == kNoToken) return;
  ByteSet joined{};
  for (TokenId id = 0; id < impl.vocabulary.size(); ++id) {
    const TokenKind kind = impl.vocabulary.kind(id);
    if (kind == TokenKind::kControl || kind == TokenKind::kUnknown) continue;
    const std::string_view piece = impl.vocabulary.piece(id);
    for (size_t i = piece.find(' ', 1); i < piece.size(); i = piece.find(' ', i + 1)) {
      if (piece[i - 1] != ' ') joined[static_cast<uint8_t>(piece[i - 1])] = true;
    }
  }
  impl.pre_tokenizer.add_cut_before_spaces(joined);
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  return Encoder(*impl_, text, options, nullptr).run();
}

Result<std::vector<TokenSpan>> Tokenizer::encode_with_offsets(std::string_view text,
                                                              EncodeOptions options) const {
  std::vector<TokenSpan> spans;
  TANDEM_TRY(Encoder(*impl_, text, options, &spans).run());
  return spans;
}

std::string Tokenizer::decode(std::span<const TokenId> tokens, DecodeOptions options) const {
  std::string bytes;
  bool at_start = options.begins_text && strips_first_space();
  for (const TokenId token : tokens) {
    if (is_control(token) && !options.shows(token)) continue;
    std::string_view piece = piece_bytes(token);
    if (at_start && piece.starts_with(' ')) piece.remove_prefix(1);
    if (!is_control(token)) at_start = false;
    bytes += piece;
  }
  std::string text;
  append_valid_utf8(text, bytes);
  return text;
}

std::string_view Tokenizer::piece_bytes(TokenId token) const {
  return impl_->vocabulary.contains(token) ? impl_->vocabulary.piece(token) : std::string_view();
}

int32_t Tokenizer::n_tokens() const { return impl_->vocabulary.size(); }
std::optional<TokenId> Tokenizer::bos() const { return impl_->bos; }
std::optional<TokenId> Tokenizer::eos() const { return impl_->eos; }
std::optional<TokenId> Tokenizer::eot() const { return impl_->eot; }
std::optional<TokenId> Tokenizer::pad() const { return impl_->pad; }
std::optional<TokenId> Tokenizer::unk() const { return impl_->unk; }

bool Tokenizer::adds_bos() const {
  const auto& before = impl_->before_text;
  return impl_->bos && std::find(before.begin(), before.end(), *impl_->bos) != before.end();
}

bool Tokenizer::adds_eos() const {
  const auto& after = impl_->after_text;
  return impl_->eos && std::find(after.begin(), after.end(), *impl_->eos) != after.end();
}

std::span<const TokenId> Tokenizer::end_of_generation() const { return impl_->end_of_generation; }

bool Tokenizer::is_end_of_generation(TokenId token) const {
  const auto& ids = impl_->end_of_generation;
  return std::binary_search(ids.begin(), ids.end(), token);
}

bool Tokenizer::is_control(TokenId token) const {
  if (!impl_->vocabulary.contains(token)) return false;
  const TokenKind kind = impl_->vocabulary.kind(token);
  return kind == TokenKind::kControl || kind == TokenKind::kUnknown;
}

std::optional<TokenId> Tokenizer::find(std::string_view piece) const {
  if (const auto added = impl_->added.find(piece)) return added;
  const TokenId token = impl_->vocabulary.find(piece);
  if (token != kNoToken) return token;
  if (piece.size() == 1) {
    const TokenId byte = impl_->vocabulary.byte_token(static_cast<uint8_t>(piece[0]));
    if (byte != kNoToken) return byte;
  }
  return std::nullopt;
}

bool Tokenizer::strips_first_space() const { return impl_->strip_first_space; }

std::string_view Tokenizer::pre_tokenizer() const { return impl_->pre_tokenizer_name; }

}  // namespace tandem
