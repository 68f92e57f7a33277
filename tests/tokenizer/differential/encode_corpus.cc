// Encodes every string of a corpus and prints its ids, one line a string: our side of the
// differential test (compare.mjs).
//
//   encode_corpus TOKENIZER CORPUS [--add-special | --decode]
//
// TOKENIZER is a tokenizer.json or a GGUF file; CORPUS is a sequence of (uint32 length, bytes).
// Control tokens in the text are recognised, as the reference always does. With --decode each line
// is the text of the string's ids without control tokens, as JSON.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "base/mapped_file.h"
#include "formats/gguf_reader.h"
#include "text/tokenizer/tokenizer.h"

namespace {

using namespace tandem;

Result<std::unique_ptr<const Tokenizer>> load(const std::string& path) {
  if (path.ends_with(".gguf")) {
    TANDEM_TRY(const ModelFile file, open_gguf(path));
    return Tokenizer::from_metadata(file.metadata);
  }
  TANDEM_TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  return Tokenizer::from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

enum class Mode { kIds, kIdsWithEnds, kText };

Result<void> encode_all(const Tokenizer& tokenizer, std::string_view corpus, Mode mode) {
  size_t n_strings = 0;
  const EncodeOptions options{.add_special = mode == Mode::kIdsWithEnds, .parse_special = true};
  for (size_t pos = 0; pos + 4 <= corpus.size();) {
    uint32_t length;
    std::memcpy(&length, corpus.data() + pos, 4);
    const std::string_view text = corpus.substr(pos + 4, length);
    pos += 4 + length;
    TANDEM_TRY(const auto ids, tokenizer.encode(text, options));
    TANDEM_TRY(const auto spans, tokenizer.encode_with_offsets(text, options));
    std::string line;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (spans[i].id != ids[i] || spans[i].begin > spans[i].end || spans[i].end > text.size()) {
        return failure(ErrorCode::kInvalidArgument, "string {}: span {} is wrong", n_strings, i);
      }
      line += fmt::format("{}{}", i ? " " : "", ids[i]);
    }
    if (mode == Mode::kText) line = nlohmann::json(tokenizer.decode(ids)).dump();
    ++n_strings;
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  return {};
}

Result<void> run(int argc, char** argv) {
  if (argc < 3) return failure(ErrorCode::kInvalidArgument, "encode_corpus TOKENIZER CORPUS");
  TANDEM_TRY(const auto tokenizer, load(argv[1]));
  TANDEM_TRY(const auto corpus, MappedFile::open(argv[2]));
  const auto bytes = corpus->bytes();
  const std::string_view flag = argc > 3 ? argv[3] : "";
  const Mode mode = flag == "--add-special" ? Mode::kIdsWithEnds
                    : flag == "--decode"    ? Mode::kText
                                            : Mode::kIds;
  return encode_all(*tokenizer, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, mode);
}

}  // namespace

int main(int argc, char** argv) {
  const auto outcome = run(argc, argv);
  if (!outcome) fmt::print(stderr, "{}\n", outcome.error().message);
  return outcome ? 0 : 1;
}
