#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "formats/metadata.h"
#include "text/tokenizer/tokenizer.h"

// Small vocabularies for the tests of this folder.

namespace tandem {

inline std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// GPT-2's spelling of one byte, worked out independently of the code under test.
inline std::string spelled_byte(int byte) {
  int code_point = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    if (b == byte && printable) code_point = b;
    if (b == byte) break;
    if (!printable) ++code_point;
  }
  if (code_point < 0x80) return std::string(1, static_cast<char>(code_point));
  return {static_cast<char>(0xC0 | code_point >> 6), static_cast<char>(0x80 | (code_point & 0x3F))};
}

/// A byte-level BPE vocabulary: ids 0 to 255 are the bytes, then the results of `merges`, then
/// `controls`.
inline Metadata byte_level_metadata(const std::string& pre, std::vector<std::string> merges,
                                    const std::vector<std::string>& controls = {}) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(spelled_byte(byte));
  for (const std::string& merge : merges) {
    const size_t space = merge.find(' ');
    tokens.push_back(merge.substr(0, space) + merge.substr(space + 1));
  }
  std::vector<int32_t> types(tokens.size(), 1);
  for (const std::string& control : controls) {
    tokens.push_back(control);
    types.push_back(3);
  }
  Metadata metadata("test.gguf");
  metadata.set("tokenizer.ggml.model", std::string("gpt2"));
  if (!pre.empty()) metadata.set("tokenizer.ggml.pre", pre);
  metadata.set("tokenizer.ggml.tokens", std::move(tokens));
  metadata.set("tokenizer.ggml.token_type", std::move(types));
  metadata.set("tokenizer.ggml.merges", std::move(merges));
  return metadata;
}

struct ScoredToken {
  std::string text;
  float score;
  int32_t type = 1;
};

/// A SentencePiece vocabulary: <unk>, <s>, </s>, the 256 byte tokens, then `extra` from id 259 on.
inline Metadata sentencepiece_metadata(const std::vector<ScoredToken>& extra) {
  std::vector<ScoredToken> all = {{"<unk>", 0, 2}, {"<s>", 0, 3}, {"</s>", 0, 3}};
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char kHex[] = "0123456789ABCDEF";
    all.push_back({std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">", 0, 6});
  }
  all.insert(all.end(), extra.begin(), extra.end());
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int32_t> types;
  for (const ScoredToken& token : all) {
    tokens.push_back(token.text);
    scores.push_back(token.score);
    types.push_back(token.type);
  }
  Metadata metadata("test.gguf");
  metadata.set("tokenizer.ggml.model", std::string("llama"));
  metadata.set("tokenizer.ggml.tokens", std::move(tokens));
  metadata.set("tokenizer.ggml.scores", std::move(scores));
  metadata.set("tokenizer.ggml.token_type", std::move(types));
  metadata.set("tokenizer.ggml.bos_token_id", uint32_t{1});
  metadata.set("tokenizer.ggml.eos_token_id", uint32_t{2});
  metadata.set("tokenizer.ggml.unknown_token_id", uint32_t{0});
  return metadata;
}

/// A vocabulary of tests/data/vocab, whose gaps become empty tokens.
inline Metadata reference_metadata(const std::string& name) {
  const auto file = nlohmann::json::parse(
      read_whole_file(TANDEM_SOURCE_DIR "/tests/data/vocab/" + name + ".json"));
  const size_t n_tokens = file["n_tokens"];
  std::vector<std::string> tokens(n_tokens);
  std::vector<int32_t> types(n_tokens, 5);
  std::vector<float> scores(n_tokens, 0);
  for (const auto& token : file["tokens"]) {
    const size_t id = token[0];
    tokens[id] = token[1];
    types[id] = token[2];
    scores[id] = token[3];
  }
  Metadata metadata(name);
  for (const auto& [key, value] : file["metadata"].items()) {
    if (value.is_string()) metadata.set(key, value.get<std::string>());
    if (value.is_boolean()) metadata.set(key, value.get<bool>());
    if (value.is_number_unsigned()) metadata.set(key, value.get<uint32_t>());
  }
  metadata.set("tokenizer.ggml.tokens", std::move(tokens));
  metadata.set("tokenizer.ggml.token_type", std::move(types));
  if (!file["merges"].empty()) {
    metadata.set("tokenizer.ggml.merges", file["merges"].get<std::vector<std::string>>());
  } else {
    metadata.set("tokenizer.ggml.scores", std::move(scores));
  }
  return metadata;
}

/// Fails the test with the error when there is none.
inline std::unique_ptr<const Tokenizer> make_tokenizer(const Metadata& metadata,
                                                       const TokenizerOptions& options = {}) {
  auto tokenizer = Tokenizer::from_metadata(metadata, options);
  if (!tokenizer) ADD_FAILURE() << tokenizer.error().message;
  return tokenizer ? std::move(*tokenizer) : nullptr;
}

/// The pieces of `text` joined by "|".
inline std::string pieces(const Tokenizer& tokenizer, std::string_view text,
                          EncodeOptions options = {.add_special = false}) {
  const auto ids = tokenizer.encode(text, options);
  if (!ids) return "error: " + ids.error().message;
  std::string out;
  for (const TokenId id : *ids) {
    if (!out.empty()) out += '|';
    out += tokenizer.piece_bytes(id);
  }
  return out;
}

/// The bytes that `tokens` stand for, joined.
inline std::string joined_bytes(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens) {
  std::string out;
  for (const TokenId token : tokens) out += tokenizer.piece_bytes(token);
  return out;
}

}  // namespace tandem
