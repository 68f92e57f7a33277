#include "sources/huggingface/tokenizer_keys.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>

#include "formats/gguf_test_bytes.h"
#include "text/tokenizer/pre_tokenizer_names.h"
#include "text/tokenizer/test_metadata.h"

// tests/data/vocab holds llama.cpp's vocabularies with texts and their ids. Here they are written
// as the tokenizer.json files they came from, read into GGUF keys, and must give those ids again.

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kByteLevel =
    R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false})";

Json split(const char* regex) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", regex}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

Json pre_tokenizer_of(const std::string& name) {
  if (name == "gpt-2") {
    return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
  }
  const char* regex =
      name == "qwen2"
          ? R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
          : R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  return {{"type", "Sequence"}, {"pretokenizers", {split(regex), Json::parse(kByteLevel)}}};
}

/// The tokens of a test vocabulary as a tokenizer.json names them.
void add_tokens(const Json& file, Json& out) {
  for (const auto& token : file["tokens"]) {
    const int type = token[2];
    out["model"]["vocab"][token[1].get<std::string>()] = token[0];
    if (type != 3 && type != 2) continue;
    out["added_tokens"].push_back({{"id", token[0]},
                                   {"content", token[1]},
                                   {"single_word", false},
                                   {"lstrip", false},
                                   {"rstrip", false},
                                   {"normalized", false},
                                   {"special", true}});
  }
}

Json byte_level_json(const Json& file, const std::string& name) {
  Json out = {{"added_tokens", Json::array()},
              {"normalizer", nullptr},
              {"pre_tokenizer", pre_tokenizer_of(name)},
              {"post_processor", Json::parse(kByteLevel)},
              {"decoder", Json::parse(kByteLevel)},
              {"model",
               {{"type", "BPE"},
                {"ignore_merges", name == "llama-bpe"},
                {"vocab", Json::object()},
                {"merges", file["merges"]}}}};
  add_tokens(file, out);
  return out;
}

/// SentencePiece's scores as a list of merges: every way to make a piece of two, the best first.
Json merges_of_scores(const Json& file) {
  std::map<std::string, float> scores;
  for (const auto& token : file["tokens"]) {
    if (token[2] == 1) scores[token[1]] = token[3];
  }
  std::vector<std::pair<float, std::pair<std::string, std::string>>> all;
  for (const auto& [piece, score] : scores) {
    for (size_t cut = 1; cut < piece.size(); ++cut) {
      const std::string left = piece.substr(0, cut);
      const std::string right = piece.substr(cut);
      if (scores.contains(left) && scores.contains(right)) all.push_back({score, {left, right}});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Json out = Json::array();
  for (const auto& [score, pair] : all) out.push_back({pair.first, pair.second});
  return out;
}

Json marked_spaces_json(const Json& file) {
  Json out = {{"added_tokens", Json::array()},
              {"normalizer",
               {{"type", "Sequence"},
                {"normalizers",
                 {{{"type", "Prepend"}, {"prepend", "▁"}},
                  {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}}}}},
              {"pre_tokenizer", nullptr},
              {"post_processor",
               {{"type", "TemplateProcessing"},
                {"single",
                 {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                  {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
                {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}}},
              {"decoder", nullptr},
              {"model",
               {{"type", "BPE"},
                {"unk_token", "<unk>"},
                {"fuse_unk", true},
                {"byte_fallback", true},
                {"vocab", Json::object()},
                {"merges", merges_of_scores(file)}}}};
  add_tokens(file, out);
  return out;
}

struct Keys {
  Metadata metadata{"m"};
  std::vector<std::string> warnings;
};

Result<Keys> keys_of(const std::string& tokenizer_json, const Json& config,
                     const TokenizerFolder& folder) {
  Keys keys;
  TANDEM_TRY(const auto parsed, JsonConfig::parse("tokenizer_config.json", config.dump()));
  TANDEM_TRY(tokenizer_json_to_keys(
      tokenizer_json, parsed, folder, keys.metadata,
      [&](LogLevel, std::string_view text) { keys.warnings.emplace_back(text); }));
  return keys;
}

class VocabularyFiles : public testing::TestWithParam<const char*> {};

TEST_P(VocabularyFiles, KeysGiveTheReferenceIds) {
  const std::string name = GetParam();
  const std::string base = TANDEM_SOURCE_DIR "/tests/data/vocab/" + name;
  const Json file = Json::parse(read_whole_file(base + ".json"));
  const bool has_merges = !file["merges"].empty();
  const Json json = has_merges ? byte_level_json(file, name) : marked_spaces_json(file);
  const uint32_t n_tokens = file["n_tokens"];
  const auto keys = keys_of(json.dump(), Json::object(), {"m", n_tokens + 64, {}});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_THAT(keys->warnings, testing::IsEmpty());
  EXPECT_EQ(keys->metadata.strings("tokenizer.ggml.tokens")->size(), n_tokens + 64);
  if (has_merges) {
    const auto pre = *keys->metadata.string("tokenizer.ggml.pre");
    EXPECT_EQ(pre, name == "llama-bpe" ? "llama3" : name);
  }
  const auto tokenizer = make_tokenizer(keys->metadata);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->adds_bos(), !has_merges);

  const std::string texts = read_whole_file(base + ".inp");
  std::stringstream lines(read_whole_file(base + ".out"));
  const std::string separator = "\n__ggml_vocab_test__\n";
  size_t begin = 0;
  size_t n_texts = 0;
  for (std::string line; std::getline(lines, line); ++n_texts) {
    const size_t end = texts.find(separator, begin);
    if (end == std::string::npos) break;
    const std::string text = texts.substr(begin, end - begin);
    std::stringstream ids(line);
    const std::vector<TokenId> wanted{std::istream_iterator<TokenId>(ids), {}};
    const auto got = tokenizer->encode(text, {.add_special = false});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, wanted) << text;
    begin = end + separator.size();
  }
  EXPECT_GE(n_texts, 45u);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, VocabularyFiles, testing::Values("gpt-2", "llama-spm"),
                         [](const testing::TestParamInfo<const char*>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// Bytes, "ab", and the control tokens <|a|> (258) and <|b|> (259); <extra> (260) is not control.
Json small_json() {
  Json out = {{"added_tokens", Json::array()},
              {"normalizer", nullptr},
              {"pre_tokenizer", pre_tokenizer_of("qwen2")},
              {"model", {{"type", "BPE"}, {"vocab", Json::object()}, {"merges", {"a b"}}}}};
  for (int byte = 0; byte < 256; ++byte) out["model"]["vocab"][spelled_byte(byte)] = byte;
  out["model"]["vocab"]["ab"] = 256;
  int id = 258;
  for (const char* text : {"<|a|>", "<|b|>", "<extra>"}) {
    out["added_tokens"].push_back({{"id", id++}, {"content", text}, {"special", text[1] == '|'}});
  }
  return out;
}

TEST(TokenizerKeys, KindsIdsAndFillers) {
  const Json config = {{"bos_token", nullptr},
                       {"eos_token", {{"content", "<|a|>"}}},
                       {"pad_token", "<|b|>"},
                       {"chat_template", "ignored here"}};
  const auto keys = keys_of(small_json().dump(), config, {"m", 264, {}});
  ASSERT_TRUE(keys) << keys.error().message;
  const auto tokens = *keys->metadata.strings("tokenizer.ggml.tokens");
  const auto types = *keys->metadata.integers("tokenizer.ggml.token_type");
  EXPECT_EQ(tokens[256], "ab");
  EXPECT_EQ(tokens[257], "[PAD257]");
  EXPECT_EQ(tokens[263], "[PAD263]");
  EXPECT_THAT(std::vector<int32_t>(types.begin() + 256, types.end()),
              ElementsAre(1, 5, 3, 3, 4, 5, 5, 5));
  EXPECT_EQ(keys->metadata.u32("tokenizer.ggml.eos_token_id"), 258u);
  EXPECT_EQ(keys->metadata.u32("tokenizer.ggml.padding_token_id"), 259u);
  EXPECT_FALSE(keys->metadata.contains("tokenizer.ggml.bos_token_id"));
  EXPECT_EQ(keys->metadata.boolean("tokenizer.ggml.add_bos_token"), false);
}

// Field report B09: config.json names 7, generation_config.json 7 and 9; all of them end a reply.
TEST(TokenizerKeys, EveryDeclaredEndTokenEndsGeneration) {
  const Json config = {{"eos_token", "<|a|>"}};
  const auto keys = keys_of(small_json().dump(), config, {"m", 264, {258, 259, 65}});
  ASSERT_TRUE(keys) << keys.error().message;
  const auto tokenizer = make_tokenizer(keys->metadata);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_THAT(tokenizer->end_of_generation(), ElementsAre(65, 258, 259));
  EXPECT_EQ(tokenizer->eos(), 258);
  const auto outside = keys_of(small_json().dump(), config, {"m", 264, {264}});
  ASSERT_FALSE(outside.has_value());
  EXPECT_THAT(outside.error().message, HasSubstr("eos_token_id 264"));
}

// Field report J03: text decomposed by macOS gives the ids of the composed one.
TEST(TokenizerKeys, NormalFormIsKept) {
  Json json = small_json();
  const std::string composed = "한글";
  const std::string decomposed =
      "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB\xE1\x84\x80\xE1\x85\xB3\xE1\x86\xAF";
  const auto plain = make_tokenizer(keys_of(json.dump(), Json::object(), {"m", 264, {}})->metadata);
  EXPECT_NE(*plain->encode(composed), *plain->encode(decomposed));
  json["normalizer"] = {{"type", "NFC"}};
  const auto keys = keys_of(json.dump(), Json::object(), {"m", 264, {}});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->metadata.string("tandem.tokenizer.normal_form"), "NFC");
  EXPECT_THAT(keys->warnings, testing::IsEmpty());
  const auto tokenizer = make_tokenizer(keys->metadata);
  EXPECT_EQ(*tokenizer->encode(composed), *tokenizer->encode(decomposed));
}

TEST(TokenizerKeys, RefusesWhatGgufCannotSay) {
  const auto message = [](const Json& json, uint32_t rows = 264) {
    const auto keys = keys_of(json.dump(), Json::object(), {"m", rows, {}});
    EXPECT_FALSE(keys.has_value());
    return keys ? std::string() : keys.error().message;
  };
  Json json = small_json();
  json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "[aeiou]";
  EXPECT_THAT(message(json), HasSubstr("cuts as none of the known ones"));
  EXPECT_THAT(message(small_json(), 200), AllOf(HasSubstr("token 256"), HasSubstr("200 rows")));
  json = small_json();
  json["pre_tokenizer"] = nullptr;
  EXPECT_THAT(message(json), HasSubstr("spells spaces as they are"));
  json = small_json();
  json["added_tokens"][0]["id"] = 256;
  EXPECT_THAT(message(json), HasSubstr("belongs to both"));
}

TEST(TokenizerKeys, AddedTokensBeyondTheEmbeddingAreLeftOut) {
  const auto keys = keys_of(small_json().dump(), Json::object(), {"m", 260, {}});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->metadata.strings("tokenizer.ggml.tokens")->size(), 260u);
  EXPECT_THAT(keys->warnings, ElementsAre(HasSubstr("1 added tokens have no row")));
}

TEST(ChatTemplate, StringsListsAndFiles) {
  Metadata metadata;
  const Json list = {{{"name", "default"}, {"template", "A"}},
                     {{"name", "tool_use"}, {"template", "B"}}};
  ASSERT_TRUE(chat_template_to_keys("c", list, metadata).has_value());
  EXPECT_EQ(metadata.string("tokenizer.chat_template"), "A");
  EXPECT_EQ(metadata.string("tokenizer.chat_template.tool_use"), "B");
  EXPECT_THAT(*metadata.strings("tokenizer.chat_templates"), ElementsAre("tool_use"));
  EXPECT_THAT(chat_template_to_keys("c", 4, metadata).error().message,
              HasSubstr("string or a list"));
  EXPECT_THAT(chat_template_to_keys("c", Json::array({1}), metadata).error().message,
              HasSubstr("without name"));

  const TestFolder folder;
  folder.write("tokenizer_config.json", R"({"chat_template":"from config"})");
  Metadata from_folder;
  ASSERT_TRUE(read_tokenizer_keys({folder.path(""), 8, {}}, from_folder).has_value());
  EXPECT_EQ(from_folder.string("tokenizer.chat_template"), "from config");
  folder.write("chat_template.jinja", "from file");
  ASSERT_TRUE(read_tokenizer_keys({folder.path(""), 8, {}}, from_folder).has_value());
  EXPECT_EQ(from_folder.string("tokenizer.chat_template"), "from file");
  folder.write("tokenizer.model", "x");
  EXPECT_THAT(read_tokenizer_keys({folder.path(""), 8, {}}, from_folder).error().message,
              AllOf(HasSubstr("tokenizer.model"), HasSubstr("AutoTokenizer")));
}

/// Real files, when there are any: TANDEM_TOKENIZER_DIR holds <name>/tokenizer.json.
TEST(TokenizerKeys, RealFilesReadTheSameBothWays) {
  const char* root = std::getenv("TANDEM_TOKENIZER_DIR");
  if (root == nullptr) GTEST_SKIP() << "TANDEM_TOKENIZER_DIR is not set";
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    SCOPED_TRACE(entry.path());
    const std::string text = read_whole_file(entry.path() / "tokenizer.json");
    const auto json = Tokenizer::from_json(text);
    ASSERT_TRUE(json) << json.error().message;
    const auto n_tokens = static_cast<uint32_t>((*json)->n_tokens());
    const auto keys = keys_of(text, Json::object(), {entry.path(), n_tokens, {}});
    if (!keys) {
      ADD_FAILURE() << keys.error().message;
      continue;
    }
    EXPECT_THAT(keys->warnings, testing::IsEmpty());
  }
}

}  // namespace
}  // namespace tandem
