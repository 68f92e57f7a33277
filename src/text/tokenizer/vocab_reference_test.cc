#include <gtest/gtest.h>

#include <cstdlib>

#include "formats/gguf_reader.h"
#include "text/tokenizer/test_metadata.h"

// The ids of llama.cpp's own tokenizer tests. tests/data/vocab holds the texts (.inp), the ids
// (.out) and of each vocabulary what the texts can touch (tests/tokenizer/restrict_vocabulary.py).
// With TANDEM_VOCAB_DIR set to a folder of the whole ggml-vocab-*.gguf files those are read
// instead.

namespace tandem {
namespace {

struct Pair {
  std::string text;
  std::vector<TokenId> ids;
};

std::vector<Pair> read_pairs(const std::string& name) {
  const std::string folder = TANDEM_SOURCE_DIR "/tests/data/vocab/";
  const std::string texts = read_whole_file(folder + name + ".inp");
  std::stringstream lines(read_whole_file(folder + name + ".out"));
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::vector<Pair> pairs;
  size_t begin = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t end = texts.find(separator, begin);
    if (end == std::string::npos) break;
    Pair pair{texts.substr(begin, end - begin), {}};
    std::stringstream ids(line);
    for (TokenId id; ids >> id;) pair.ids.push_back(id);
    pairs.push_back(std::move(pair));
    begin = end + separator.size();
  }
  return pairs;
}

class VocabReference : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<const Tokenizer> tokenizer(const std::string& name) {
    const char* folder = std::getenv("TANDEM_VOCAB_DIR");
    if (folder == nullptr) return make_tokenizer(reference_metadata(name));
    const auto file = open_gguf(std::string(folder) + "/ggml-vocab-" + name + ".gguf");
    if (!file) ADD_FAILURE() << file.error().message;
    return file ? make_tokenizer(file->metadata) : nullptr;
  }
};

TEST_P(VocabReference, IdsAreEqual) {
  const auto tokenizer = this->tokenizer(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  const auto pairs = read_pairs(GetParam());
  ASSERT_GE(pairs.size(), 45U);
  for (const Pair& pair : pairs) {
    const auto ids = tokenizer->encode(pair.text, {.add_special = false});
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_EQ(*ids, pair.ids) << pair.text;
  }
}

TEST_P(VocabReference, TextsComeBackByteForByte) {
  const auto tokenizer = this->tokenizer(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  for (const Pair& pair : read_pairs(GetParam())) {
    EXPECT_EQ(tokenizer->decode(pair.ids), pair.text);
  }
}

TEST_P(VocabReference, OffsetsTileTheText) {
  const auto tokenizer = this->tokenizer(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  for (const Pair& pair : read_pairs(GetParam())) {
    const auto spans = tokenizer->encode_with_offsets(pair.text, {.add_special = false});
    ASSERT_TRUE(spans);
    ASSERT_EQ(spans->size(), pair.ids.size());
    uint64_t done = 0;
    for (size_t i = 0; i < spans->size(); ++i) {
      EXPECT_EQ((*spans)[i].id, pair.ids[i]);
      EXPECT_EQ((*spans)[i].begin, done) << pair.text;
      done = (*spans)[i].end;
    }
    EXPECT_EQ(done, pair.text.size()) << pair.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, VocabReference,
                         testing::Values("gpt-2", "llama-bpe", "qwen2", "llama-spm", "phi-3",
                                         "gemma-4"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tandem
