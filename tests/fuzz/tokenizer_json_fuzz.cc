// Loading of arbitrary bytes as a tokenizer.json, and encoding with whatever comes out of it, as it
// stands and by way of GGUF's keys.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "sources/huggingface/tokenizer_keys.h"
#include "text/tokenizer/tokenizer.h"
#include "text/unicode/utf8.h"

namespace {

using namespace tandem;

void require(bool condition) {
  if (!condition) std::abort();
}

void use(const Tokenizer& tokenizer) {
  constexpr std::string_view kTexts[] = {"",
                                         " ",
                                         "Hello, World's 123  \r\n\tx ",
                                         "한글 e\xCC\x81 🦜 世界",
                                         "<s>a</s> <unk>",
                                         "\xFF\xE6\xAD b"};
  for (const std::string_view text : kTexts) {
    for (const bool special : {false, true}) {
      const EncodeOptions options{.add_special = special, .parse_special = special};
      const auto spans = tokenizer.encode_with_offsets(text, options);
      if (!spans) continue;
      std::vector<TokenId> ids;
      for (const TokenSpan& span : *spans) {
        require(span.begin <= span.end && span.end <= text.size());
        ids.push_back(span.id);
      }
      require(is_valid_utf8(tokenizer.decode(ids)));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tokenizer = tandem::Tokenizer::from_json({reinterpret_cast<const char*>(data), size});
  if (tokenizer) use(**tokenizer);
  tandem::Metadata metadata("fuzz");
  const auto keys = tandem::tokenizer_json_to_keys({reinterpret_cast<const char*>(data), size}, {},
                                                   {"fuzz", 400, {}}, metadata);
  if (!keys) return 0;
  const auto by_keys = tandem::Tokenizer::from_metadata(metadata);
  if (by_keys) use(**by_keys);
  return 0;
}
