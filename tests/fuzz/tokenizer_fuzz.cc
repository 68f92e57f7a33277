// Encoding of arbitrary bytes. The first byte picks the tokenizer, the second the options, the rest
// is the text. Whatever the text: offsets stay inside it, streaming equals decoding, the output is
// UTF-8, and where every byte has a token the bytes come back.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "text/tokenizer/streaming_detokenizer.h"
#include "text/tokenizer/tokenizer.h"
#include "text/unicode/utf8.h"

namespace {

using namespace tandem;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string spelled(int byte) {
  int code_point = 0x100;
  for (int b = 0; b <= byte; ++b) {
    const bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    if (b == byte && printable) code_point = b;
    if (b < byte && !printable) ++code_point;
  }
  std::string out;
  append_utf8(out, static_cast<uint32_t>(code_point));
  return out;
}

Metadata byte_level(const std::string& pre) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(spelled(byte));
  std::vector<std::string> merges = {"a b",  "ab c",  "a a", "aa aa", "aaaa aaaa", "Ġ a", "t h",
                                     "th e", "Ġ the", "Ċ Ċ", "Ġ Ġ",   "ĠĠ ĠĠ",     "1 2", "' s"};
  for (const std::string& merge : merges) {
    std::string token = merge;
    token.erase(token.find(' '), 1);
    tokens.push_back(token);
  }
  std::vector<int32_t> types(tokens.size(), 1);
  for (const char* control : {"<|im_end|>", "<s>", "<|x"}) {
    tokens.push_back(control);
    types.push_back(3);
  }
  tokens.push_back("<t>");
  types.push_back(4);
  Metadata metadata("fuzz");
  metadata.set("tokenizer.ggml.model", std::string("gpt2"));
  metadata.set("tokenizer.ggml.pre", pre);
  metadata.set("tokenizer.ggml.tokens", tokens);
  metadata.set("tokenizer.ggml.token_type", types);
  metadata.set("tokenizer.ggml.merges", merges);
  metadata.set("tokenizer.ggml.bos_token_id", uint32_t{271});
  return metadata;
}

Metadata sentencepiece(const std::string& model) {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char kHex[] = "0123456789ABCDEF";
    tokens.push_back(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
    types.push_back(6);
  }
  for (const char* piece : {"▁", "a", "b", "t", "h", "e", "th", "the", "▁the", "▁▁", "▁▁▁▁", "aa",
                            "aaaa", "한", "글", "한글", "b▁", "é"}) {
    tokens.push_back(piece);
    types.push_back(1);
  }
  std::vector<float> scores(tokens.size(), 0);
  for (size_t i = 259; i < scores.size(); ++i) scores[i] = -1.0F - static_cast<float>(i % 7);
  Metadata metadata("fuzz");
  metadata.set("tokenizer.ggml.model", model);
  metadata.set("tokenizer.ggml.tokens", tokens);
  metadata.set("tokenizer.ggml.token_type", types);
  metadata.set("tokenizer.ggml.scores", scores);
  metadata.set("tokenizer.ggml.bos_token_id", uint32_t{1});
  metadata.set("tokenizer.ggml.eos_token_id", uint32_t{2});
  metadata.set("tokenizer.ggml.unknown_token_id", uint32_t{0});
  return metadata;
}

struct Target {
  std::unique_ptr<const Tokenizer> tokenizer;
  bool spells_bytes;  ///< the joined pieces are the text
};

const std::vector<Target>& targets() {
  static const std::vector<Target> kTargets = [] {
    std::vector<Target> out;
    const auto add = [&](const Metadata& metadata, bool spells_bytes) {
      auto tokenizer = Tokenizer::from_metadata(metadata);
      require(tokenizer.has_value());
      out.push_back({std::move(*tokenizer), spells_bytes});
    };
    for (const char* pre : {"qwen2", "gpt-4o", "gpt-2", "deepseek-llm", "deepseek-v3", "falcon",
                            "tekken", "exaone-moe", "superbpe", "tiny_aya", "bailingmoe", "jais-2",
                            "kimi-k2", "chameleon", "default", "viking"}) {
      add(byte_level(pre), true);
    }
    add(sentencepiece("llama"), false);
    add(sentencepiece("t5"), false);
    return out;
  }();
  return kTargets;
}

void check(const Target& target, std::string_view text, EncodeOptions options) {
  const Tokenizer& tokenizer = *target.tokenizer;
  const auto ids = tokenizer.encode(text, options);
  const auto spans = tokenizer.encode_with_offsets(text, options);
  require(ids.has_value() == spans.has_value());
  if (!ids) return;
  require(ids->size() == spans->size());
  std::string bytes;
  uint64_t begin = 0;
  for (size_t i = 0; i < ids->size(); ++i) {
    const TokenSpan& span = (*spans)[i];
    require(span.id == (*ids)[i] && span.id >= 0 && span.id < tokenizer.n_tokens());
    require(span.begin >= begin && span.begin <= span.end && span.end <= text.size());
    begin = span.begin;
    bytes += tokenizer.piece_bytes(span.id);
  }
  if (target.spells_bytes && !options.add_special) require(bytes == text);
  StreamingDetokenizer stream(tokenizer, {"stop", "한글 ", "\n\n"});
  StreamingDetokenizer whole(tokenizer);
  std::string shown;
  std::string all;
  for (const TokenId id : *ids) {
    shown += stream.push(id);
    all += whole.push(id);
  }
  shown += stream.finish();
  all += whole.finish();
  require(is_valid_utf8(shown) && all.starts_with(shown));
  require(all == tokenizer.decode(*ids, {.show_control = false, .begins_text = false}));
  require(stream.stopped() == (all.size() > shown.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const Target& target = targets()[data[0] % targets().size()];
  const EncodeOptions options{.add_special = (data[1] & 1) != 0,
                              .parse_special = (data[1] & 2) != 0};
  check(target, {reinterpret_cast<const char*>(data) + 2, size - 2}, options);
  return 0;
}
