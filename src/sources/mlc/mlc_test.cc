#include <gmock/gmock.h>

#include <cstring>
#include <map>

#include "formats/gguf_test_bytes.h"
#include "sources/checkpoint_test_files.h"
#include "sources/mlc/group_rows.h"
#include "sources/mlc/md5.h"
#include "sources/mlc/mlc_source.h"
#include "sources/mlc/tensor_cache.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string md5(const std::string& text) { return md5_hex(std::as_bytes(std::span(text))); }

// The test suite of RFC 1321, and lengths around the padding's edge (md5sum of coreutils).
TEST(Md5, IsThatOfTheStandard) {
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
  EXPECT_EQ(md5(std::string(55, 'a')), "ef1772b6dff9a122358552954ad0df65");
  EXPECT_EQ(md5(std::string(56, 'a')), "3b0c8ac703f828b04c6c197006d17218");
  EXPECT_EQ(md5(std::string(64, 'a')), "014842d480b571495a4a0363793f7367");
}

class TensorCache : public testing::Test {
 protected:
  TensorCache() {
    files_["s0.bin"] = std::string(24, '\x3c');
    cache_["records"] = {{{"dataPath", "s0.bin"},
                          {"format", "raw-shard"},
                          {"nbytes", 24},
                          {"records",
                           {record("a", {2, 3}, "float32", "f32-to-bf16", 12, 0),
                            record("b", {3}, "uint32", "f32-to-bf16", 12, 12)}}}};
  }
  static Json record(const char* name, std::vector<uint64_t> shape, const char* dtype,
                     const char* format, uint64_t n_bytes, uint64_t offset) {
    return {{"name", name},     {"shape", shape},    {"dtype", dtype},
            {"format", format}, {"nbytes", n_bytes}, {"byteOffset", offset}};
  }
  Json& shard() { return cache_["records"][0]; }
  Json& first() { return cache_["records"][0]["records"][0]; }

  Result<std::vector<StoredTensor>> read() {
    TANDEM_TRY(const auto config, JsonConfig::from_value("cache.json", cache_));
    return read_tensor_cache(
        config, [&](const std::string& name) -> Result<std::shared_ptr<const MappedFile>> {
          if (!files_.contains(name)) return failure(ErrorCode::kNotFound, "{}: not there", name);
          return in_memory(name, files_[name]);
        });
  }
  std::string refusal() {
    const auto tensors = read();
    EXPECT_FALSE(tensors.has_value());
    return tensors ? "(accepted)" : tensors.error().message;
  }

  std::map<std::string, std::string> files_;
  Json cache_ = Json::object();
};

TEST_F(TensorCache, ReadsArraysAsTheyAreStored) {
  const auto tensors = read();
  ASSERT_TRUE(tensors.has_value()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].type, StoredType::kBF16);
  EXPECT_THAT((*tensors)[0].shape, ElementsAre(2, 3));
  EXPECT_EQ((*tensors)[1].type, StoredType::kU32);
  EXPECT_EQ((*tensors)[1].bytes.size(), 12u);
}

TEST_F(TensorCache, ChecksTheDigest) {
  shard()["md5sum"] = md5(files_["s0.bin"]);
  EXPECT_TRUE(read().has_value());
  files_["s0.bin"][5] = '!';
  EXPECT_THAT(refusal(), AllOf(HasSubstr("s0.bin: is damaged"), HasSubstr("MD5")));
}

TEST_F(TensorCache, RefusesPlacesOutsideTheShard) {
  first()["byteOffset"] = 13;
  EXPECT_THAT(refusal(), AllOf(HasSubstr("12 bytes from byte 13"), HasSubstr("shard has 24")));
  first()["byteOffset"] = UINT64_MAX;
  EXPECT_THAT(refusal(), HasSubstr("from byte 18446744073709551615"));
  first()["byteOffset"] = 4;
  EXPECT_THAT(refusal(), HasSubstr("arrays a and b overlap"));
  first()["byteOffset"] = -1;
  EXPECT_THAT(refusal(), HasSubstr("byteOffset must be an integer"));
}

TEST_F(TensorCache, RefusesSizesThatDisagree) {
  shard()["nbytes"] = 25;
  EXPECT_THAT(refusal(), HasSubstr("has 24 bytes"));
  shard()["nbytes"] = 24;
  first()["nbytes"] = 24;
  EXPECT_THAT(refusal(), HasSubstr("its type and shape need 12"));
  first()["shape"] = {uint64_t{1} << 62, 4};
  EXPECT_THAT(refusal(), HasSubstr("2^62"));
  first()["shape"] = {2, -3};
  EXPECT_THAT(refusal(), HasSubstr("none negative"));
}

TEST_F(TensorCache, RefusesWhatItDoesNotKnow) {
  first()["dtype"] = "complex64";
  EXPECT_THAT(refusal(), HasSubstr("complex64"));
  first()["dtype"] = "float32";
  first()["format"] = "zip";
  EXPECT_THAT(refusal(), HasSubstr("zip"));
  first()["format"] = "raw";
  EXPECT_THAT(refusal(), HasSubstr("need 24"));
  shard()["dataPath"] = "../s0.bin";
  EXPECT_THAT(refusal(), HasSubstr("no name in its folder"));
  shard()["dataPath"] = "s1.bin";
  EXPECT_THAT(refusal(), HasSubstr("s1.bin: not there"));
}

TEST_F(TensorCache, RefusesRepeatedNamesAndMissingMembers) {
  cache_["records"][0]["records"][1]["name"] = "a";
  EXPECT_THAT(refusal(), HasSubstr("a appears twice"));
  first().erase("name");
  EXPECT_THAT(refusal(), HasSubstr("name is missing"));
  shard().erase("records");
  EXPECT_THAT(refusal(), HasSubstr("records must be an array"));
  cache_ = Json::object();
  EXPECT_THAT(refusal(), HasSubstr("records must be an array"));
}

TEST(TensorCacheFolder, NamesMissingShards) {
  const TestFolder folder;
  EXPECT_THAT(open_tensor_cache(folder.path("")).error().message, HasSubstr("ndarray-cache.json"));
  folder.write("ndarray-cache.json", R"({"records":[{"dataPath":"s7.bin"}]})");
  EXPECT_THAT(open_tensor_cache(folder.path("")).error().message,
              AllOf(HasSubstr("1 shards are missing"), HasSubstr("s7.bin")));
}

/// Two rows of 32 codes: row 0 counts 0 to 14 and again, row 1 is all 7 but the last, 14.
class GroupRowsTest : public testing::Test {
 protected:
  void fill(bool transposed) {
    for (int row = 0; row < 2; ++row) {
      for (int word = 0; word < 4; ++word) {
        uint32_t bits = 0;
        for (int j = 0; j < 8; ++j) {
          const uint32_t code = row == 0 ? static_cast<uint32_t>((8 * word + j) % 15)
                                         : (8 * word + j == 31 ? 14u : 7u);
          bits |= code << (4 * j);
        }
        const int at = transposed ? word * 2 + row : row * 4 + word;
        words_[at] = bits;
      }
    }
  }
  std::unique_ptr<const RowReader> rows(bool transposed) {
    fill(transposed);
    StoredTensor words{
        .name = "w",
        .type = StoredType::kU32,
        .shape = transposed ? std::vector<uint64_t>{4, 2} : std::vector<uint64_t>{2, 4},
        .bytes = std::as_bytes(std::span(words_)),
        .file = MappedFile::view("w", std::as_bytes(std::span(words_)))};
    StoredTensor scales{
        .name = "s",
        .type = StoredType::kF16,
        .shape = transposed ? std::vector<uint64_t>{1, 2} : std::vector<uint64_t>{2, 1},
        .bytes = std::as_bytes(std::span(scales_)),
        .file = MappedFile::view("s", std::as_bytes(std::span(scales_)))};
    return group_rows({.words = words,
                       .scales = scales,
                       .format = *group_quantization_by_name(transposed ? "q4f16_0" : "q4f16_1"),
                       .transposed = transposed,
                       .row_length = 32,
                       .order = {}});
  }

  uint32_t words_[8];
  uint16_t scales_[2] = {0x3800, 0xc000};  // 0.5, -2
};

TEST_F(GroupRowsTest, DecodesBothLayouts) {
  for (const bool transposed : {false, true}) {
    float out[64];
    const auto reader = rows(transposed);
    ASSERT_TRUE(reader->decode(0, 2, out).has_value());
    for (int k = 0; k < 32; ++k) {
      EXPECT_EQ(out[k], static_cast<float>(k % 15 - 7) * 0.5f) << k;
      EXPECT_EQ(out[32 + k], k == 31 ? -14.0f : 0.0f) << k;
    }
  }
}

TEST_F(GroupRowsTest, IsExactlyQ4_0) {
  for (const bool transposed : {false, true}) {
    const auto reader = rows(transposed);
    ASSERT_EQ(reader->exact_type(), DType::kQ4_0);
    std::byte blocks[36];
    ASSERT_TRUE(reader->encode(0, 2, blocks).has_value());
    float exact[64];
    float out[64];
    decode_row(DType::kQ4_0, blocks, exact, 64);
    ASSERT_TRUE(reader->decode(0, 2, out).has_value());
    EXPECT_TRUE(std::equal(exact, exact + 64, out));
  }
}

TEST_F(GroupRowsTest, RefusesCodesThatNoQuantizerWrites) {
  const auto reader = rows(false);
  words_[5] |= 0xf0;
  float out[64];
  EXPECT_TRUE(reader->decode(0, 1, out).has_value());
  const auto result = reader->decode(0, 2, out);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("row 1, column 9: code 15"));
}

TEST(GroupQuantization, ByName) {
  const auto q3 = group_quantization_by_name("q3f16_1");
  ASSERT_TRUE(q3.has_value());
  EXPECT_EQ(q3->per_word(), 10u);
  EXPECT_EQ(q3->words_per_group(), 4u);
  EXPECT_EQ(q3->max(), 3);
  EXPECT_FALSE(q3->transposes_linear);
  EXPECT_TRUE(group_quantization_by_name("q4f16_0")->transposes_linear);
  EXPECT_FALSE(group_quantization_by_name("q0f16").has_value());
}

Json chat_config() {
  return {{"model_type", "gemma3"},
          {"quantization", "q4f16_1"},
          {"model_config",
           {{"text_config",
             {{"hidden_size", 64},
              {"context_window_size", 512},
              {"rope_scaling", 0},
              {"position_embedding_base", 1000000},
              {"sliding_window_size", 8}}},
            {"vocab_size", 100},
            {"context_window_size", -1},
            {"sliding_window_size", -1}}}};
}

TEST(MlcConfig, ComesBackInTheOriginalWords) {
  const auto chat = JsonConfig::from_value("chat.json", chat_config());
  const auto config = mlc_model_config(*chat);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->value(), Json({{"model_type", "gemma3"},
                                   {"vocab_size", 100},
                                   {"text_config",
                                    {{"hidden_size", 64},
                                     {"max_position_embeddings", 512},
                                     {"rope_theta", 1000000},
                                     {"sliding_window", 8}}}}));
}

TEST(MlcFolder, NamesWhatItDoesNotRead) {
  const TestFolder folder;
  Json chat = chat_config();
  chat["quantization"] = "q4f16_ft";
  folder.write("mlc-chat-config.json", chat.dump());
  const auto source = open_mlc_folder(folder.path(""));
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(source.error().message, AllOf(HasSubstr("q4f16_ft"), HasSubstr("known are q0f16")));
  chat.erase("quantization");
  folder.write("mlc-chat-config.json", chat.dump());
  EXPECT_THAT(open_mlc_folder(folder.path("")).error().message,
              HasSubstr("quantization is missing"));
}

}  // namespace
}  // namespace tandem
