#include <gtest/gtest.h>

#include "text/tokenizer/char_map.h"
#include "text/tokenizer/json_reader.h"
#include "text/tokenizer/test_metadata.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

/// A byte-level tokenizer.json whose ids 0 to 255 are the bytes.
Json byte_level_json(const std::vector<std::string>& merges = {}) {
  Json vocab;
  for (int byte = 0; byte < 256; ++byte) vocab[spelled_byte(byte)] = byte;
  for (const std::string& merge : merges) {
    const size_t space = merge.find(' ');
    const size_t id = vocab.size();
    vocab[merge.substr(0, space) + merge.substr(space + 1)] = id;
  }
  return {{"version", "1.0"},
          {"added_tokens", Json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

std::unique_ptr<const Tokenizer> from_json(const Json& json) {
  auto tokenizer = Tokenizer::from_json(json.dump());
  if (!tokenizer) ADD_FAILURE() << tokenizer.error().message;
  return tokenizer ? std::move(*tokenizer) : nullptr;
}

void expect_error(const Json& json, ErrorCode code, const std::string& part) {
  const auto tokenizer = Tokenizer::from_json(json.dump());
  ASSERT_FALSE(tokenizer) << part;
  EXPECT_EQ(tokenizer.error().code, code) << tokenizer.error().message;
  EXPECT_NE(tokenizer.error().message.find(part), std::string::npos) << tokenizer.error().message;
}

const std::string kComposed = "한글";
const std::string kDecomposed =
    "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB\xE1\x84\x80\xE1\x85\xB3\xE1\x86\xAF";

// Field report J03.
TEST(JsonTokenizer, J03NfcMakesDecomposedKoreanEqual) {
  Json json = byte_level_json();
  json["normalizer"] = {{"type", "NFC"}};
  const auto nfc = from_json(json);
  EXPECT_EQ(*nfc->encode(kComposed), *nfc->encode(kDecomposed));
  EXPECT_EQ(*nfc->encode("하\xE1\x86\xAB"), *nfc->encode("한")) << "LV and T";
}

TEST(JsonTokenizer, J03WithoutANormalizerBothFormsRoundTrip) {
  const auto plain = from_json(byte_level_json());
  EXPECT_NE(*plain->encode(kComposed), *plain->encode(kDecomposed));
  EXPECT_EQ(plain->decode(*plain->encode(kDecomposed)), kDecomposed);
}

TEST(JsonTokenizer, OffsetsPointIntoTheTextBeforeNormalisation) {
  Json json = byte_level_json();
  json["normalizer"] = {{"type", "NFC"}};
  const auto spans = from_json(json)->encode_with_offsets("a" + kDecomposed + "b");
  ASSERT_TRUE(spans);
  ASSERT_EQ(spans->size(), 8U);
  EXPECT_EQ((*spans)[0].end, 1U);
  for (size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ((*spans)[i].begin, 1U) << "each byte of 한 stands for all of its jamo";
    EXPECT_EQ((*spans)[i].end, 10U);
  }
  EXPECT_EQ((*spans)[7].begin, 19U);
}

TEST(JsonTokenizer, NormalizersApplyInOrder) {
  const auto normalized = [](const Json& normalizer, const std::string& text) {
    Json json = byte_level_json();
    json["normalizer"] = normalizer;
    const auto tokenizer = from_json(json);
    return joined_bytes(*tokenizer, *tokenizer->encode(text));
  };
  EXPECT_EQ(normalized({{"type", "Lowercase"}}, "ÄBC İ 한"), "äbc i̇ 한");
  EXPECT_EQ(normalized({{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}}, "\t a "),
            "a ");
  EXPECT_EQ(normalized({{"type", "NFKC"}}, "ﬁ①"), "fi1");
  EXPECT_EQ(normalized({{"type", "Sequence"},
                        {"normalizers", {{{"type", "NFD"}}, {{"type", "StripAccents"}}}}},
                       "é"),
            "e");
  EXPECT_EQ(normalized({{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}},
                       "a \n b"),
            "a b");
  EXPECT_EQ(
      normalized({{"type", "Replace"}, {"pattern", {{"String", "x"}}}, {"content", "yy"}}, "axb"),
      "ayyb");
  EXPECT_EQ(normalized({{"type", "Prepend"}, {"prepend", ">"}}, "a"), ">a");
}

TEST(JsonTokenizer, AddedTokensFollowTheirFlags) {
  Json json = byte_level_json();
  json["added_tokens"] = {
      {{"id", 256}, {"content", "<c>"}, {"special", true}},
      {{"id", 257}, {"content", "<u>"}, {"special", false}, {"rstrip", true}},
      {{"id", 258}, {"content", "ABC"}, {"special", false}, {"normalized", true}}};
  json["normalizer"] = {{"type", "Lowercase"}};
  const auto tokenizer = from_json(json);
  EXPECT_EQ(pieces(*tokenizer, "a<c>"), "a|<|c|>");
  EXPECT_EQ(pieces(*tokenizer, "a<c>b", {.parse_special = true}), "a|<c>|b");
  EXPECT_EQ(pieces(*tokenizer, "<u>  b"), "<u>|b");
  EXPECT_TRUE(tokenizer->is_control(256));
  EXPECT_FALSE(tokenizer->is_control(257));
}

TEST(JsonTokenizer, ThePostProcessorNamesBosAndEos) {
  Json json = byte_level_json();
  json["added_tokens"] = {{{"id", 256}, {"content", "<s>"}, {"special", true}},
                          {{"id", 257}, {"content", "</s>"}, {"special", true}}};
  json["post_processor"] = Json::parse(R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A"}},
               {"SpecialToken": {"id": "</s>", "type_id": 0}}],
    "special_tokens": {"<s>": {"ids": [256]}, "</s>": {"ids": [257]}}})");
  const auto tokenizer = from_json(json);
  EXPECT_EQ(pieces(*tokenizer, "a", {}), "<s>|a|</s>");
  EXPECT_EQ(tokenizer->bos(), 256);
  EXPECT_EQ(tokenizer->eos(), 257);
  EXPECT_TRUE(tokenizer->is_end_of_generation(257));
  json["post_processor"]["special_tokens"]["<s>"]["ids"] = {9999};
  expect_error(json, ErrorCode::kCorruptFile, "9999");
}

TEST(JsonTokenizer, SentencePieceSpacesComeFromTheNormalizerOrFromMetaspace) {
  Json json = byte_level_json();
  json["model"] = Json::parse(R"({"type": "BPE", "unk_token": "<unk>", "fuse_unk": true,
    "vocab": {"<unk>": 0, "▁": 1, "a": 2, "▁a": 3, "b": 4}, "merges": [["▁", "a"]]})");
  json["pre_tokenizer"] = nullptr;
  json["decoder"] = Json::parse(R"({"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})");
  json["normalizer"] = Json::parse(R"({"type": "Sequence", "normalizers": [
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]})");
  const auto normalizing = from_json(json);
  EXPECT_EQ(pieces(*normalizing, "a a▁b"), " a| a| |b");
  EXPECT_EQ(pieces(*normalizing, "xyb"), " |<unk>|b");
  EXPECT_EQ(normalizing->decode(*normalizing->encode("a b")), "a b");
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}};
  EXPECT_EQ(pieces(*from_json(json), "a  a"), " a| | a");
}

TEST(JsonTokenizer, NamesWhatItDoesNotSupport) {
  Json json = byte_level_json();
  json["normalizer"] = {{"type", "Whatever"}};
  expect_error(json, ErrorCode::kUnsupported, "Whatever");
  json = byte_level_json();
  json["pre_tokenizer"] = {{"type", "Split"},
                           {"pattern", {{"Regex", "(?<x>a)"}}},
                           {"behavior", "Isolated"},
                           {"invert", false}};
  expect_error(json, ErrorCode::kUnsupported, "this kind of group");
  json = byte_level_json();
  json["model"]["type"] = "WordPiece";
  expect_error(json, ErrorCode::kUnsupported, "WordPiece");
  json = byte_level_json();
  json["decoder"] = {{"type", "CTC"}};
  expect_error(json, ErrorCode::kUnsupported, "CTC");
}

TEST(JsonTokenizer, RefusesWhatContradictsItself) {
  Json json = byte_level_json();
  json["model"]["vocab"]["zz"] = 4000000;
  expect_error(json, ErrorCode::kCorruptFile, "4000000");
  json = byte_level_json();
  json["model"]["vocab"]["zz"] = -1;
  expect_error(json, ErrorCode::kCorruptFile, "-1");
  json = byte_level_json();
  json["model"]["vocab"]["zz"] = 5;
  expect_error(json, ErrorCode::kCorruptFile, "id 5 belongs to both");
  json = byte_level_json();
  json["model"]["merges"] = {"x yz"};
  expect_error(json, ErrorCode::kCorruptFile, "names a piece that is no token");
  json = byte_level_json();
  json["added_tokens"] = {{{"content", "x"}}};
  expect_error(json, ErrorCode::kCorruptFile, "without id and content");
  EXPECT_FALSE(Tokenizer::from_json(""));
  EXPECT_FALSE(Tokenizer::from_json("{"));
  EXPECT_FALSE(Tokenizer::from_json("[]"));
  EXPECT_FALSE(Tokenizer::from_json(R"({"model": {"vocab": {"a": 1)"));
  EXPECT_FALSE(Tokenizer::from_json(std::string(1 << 20, '[')));
}

TEST(JsonReader, ReadsStringsWithEveryEscape) {
  JsonReader reader(R"(["a\"\\\/\b\f\n\r\t", "\ud55c\uae00", "\ud83e\udd9c", -12, 1.5e3])");
  std::string text;
  bool first = true;
  ASSERT_TRUE(reader.expect('['));
  const auto next = [&] {
    const auto more = reader.next_item(']', first);
    return more && *more;
  };
  ASSERT_TRUE(next() && reader.string(text));
  EXPECT_EQ(text, "a\"\\/\b\f\n\r\t");
  ASSERT_TRUE(next() && reader.string(text));
  EXPECT_EQ(text, "한글");
  ASSERT_TRUE(next() && reader.string(text));
  EXPECT_EQ(text, "🦜");
  ASSERT_TRUE(next());
  EXPECT_EQ(*reader.integer(), -12);
  ASSERT_TRUE(next());
  EXPECT_EQ(*reader.number(), 1500.0);
  EXPECT_FALSE(next());
  EXPECT_TRUE(reader.expect_end());
}

TEST(JsonReader, RefusesBrokenText) {
  std::string text;
  for (const char* broken :
       {"\"a", "\"\\", "\"\\x\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\u12\"", "x"}) {
    EXPECT_FALSE(JsonReader(broken).string(text)) << broken;
  }
  EXPECT_FALSE(JsonReader("nan").number());
  EXPECT_FALSE(JsonReader("1e999").number());
  EXPECT_FALSE(JsonReader("[1, [2]").raw_value());
  EXPECT_EQ(*JsonReader(R"( {"a]": [1, "}"]} , 2)").raw_value(), R"({"a]": [1, "}"]})");
}

// A map with the one entry "ab" -> "x". Units: root, then the children of a and b, laid out by hand
// after Darts-clone's format (offset << 10 | has value << 8 | label).
TEST(CharMap, FollowsTheDoubleArrayWithoutLeavingIt) {
  std::vector<uint32_t> units(512, 0);
  units[0] = 256 << 10;                  // children at 256 ^ label
  units[256 ^ 'a'] = (128 << 10) | 'a';  // its children at ... ^ 128 ^ label
  const uint32_t after_a = (256 ^ 'a') ^ 128;
  units[after_a ^ 'b'] = (1 << 10) | (1 << 8) | 'b';  // a value hangs at ^ 1
  units[(after_a ^ 'b') ^ 1] = 1U << 31 | 0;          // replacement at 0
  std::string bytes;
  const auto append = [&](uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(value >> shift));
  };
  append(static_cast<uint32_t>(units.size() * 4));
  for (const uint32_t unit : units) append(unit);
  bytes += std::string("x\0", 2);
  const auto map = CharMap::parse(bytes);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->replacement_of("ab"), "x");
  EXPECT_FALSE(map->replacement_of("a"));
  EXPECT_FALSE(map->longest_at("zz", 0));
  ASSERT_TRUE(map->longest_at("zabc", 1));
  EXPECT_EQ(map->longest_at("zabc", 1)->length, 2U);
  EXPECT_FALSE(CharMap::parse("\x10"));
  EXPECT_FALSE(CharMap::parse(std::string("\xFF\xFF\xFF\x7F\0\0\0\0", 8)));
}

}  // namespace
}  // namespace tandem
