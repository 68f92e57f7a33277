// A text file as token ids.

#include "evaluation/evaluation_text.h"

#include "base/mapped_file.h"

namespace tandem {
namespace {

constexpr std::string_view kSeparator = "\n\x1e\n";

/// The token that ends a document: end of text where there is one, since EOS may be a turn's end.
std::optional<TokenId> document_end(const Tokenizer& tokenizer) {
  for (const std::string_view name : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"}) {
    if (const auto token = tokenizer.find(name)) return token;
  }
  return tokenizer.eos();
}

Result<void> append_encoded(const Tokenizer& tokenizer, std::string_view text,
                            const TextOptions& options, std::vector<TokenId>& out) {
  TANDEM_TRY(const auto ids, tokenizer.encode(text, {.add_special = false,
                                                     .parse_special = options.parse_special}));
  out.insert(out.end(), ids.begin(), ids.end());
  return {};
}

}  // namespace

Result<EvaluationText> tokenize_text(const std::string& name, std::string_view text,
                                     const Tokenizer& tokenizer, const TextOptions& options) {
  if (tokenizer.adds_eos()) {
    return failure(ErrorCode::kUnsupported,
                   "{}: the model wants an end token after every text, so the parts of a text have "
                   "no perplexity",
                   name);
  }
  EvaluationText out{.name = name, .tokens = {}, .bos = {}, .n_bytes = text.size()};
  if (tokenizer.adds_bos()) out.bos = tokenizer.bos();
  if (options.drop_last_newline && text.ends_with('\n')) text.remove_suffix(1);
  if (!options.documents) {
    TANDEM_TRY(append_encoded(tokenizer, text, options, out.tokens));
    return out;
  }
  const auto end = document_end(tokenizer);
  if (!end) {
    return failure(ErrorCode::kUnsupported, "{}: the model has no end token to close documents",
                   name);
  }
  out.n_documents = 0;
  while (true) {
    const size_t separator = text.find(kSeparator);
    TANDEM_TRY(append_encoded(tokenizer, text.substr(0, separator), options, out.tokens));
    out.tokens.push_back(*end);
    ++out.n_documents;
    if (separator == text.npos) return out;
    text.remove_prefix(separator + kSeparator.size());
  }
}

Result<EvaluationText> load_text(const std::string& path, const Tokenizer& tokenizer,
                                 const TextOptions& options) {
  TANDEM_TRY(const auto file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  return tokenize_text(path, text, tokenizer, options);
}

}  // namespace tandem
