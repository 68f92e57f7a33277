#pragma once

// For tests: GGUF bytes laid out by hand, right or wrong, and a folder of their own for files.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "formats/gguf_format.h"
#include "formats/gguf_reader.h"
#include "formats/gguf_source.h"

namespace tandem {

/// Builds a file front to back; nothing is checked.
class GgufBytes {
 public:
  GgufBytes(uint64_t n_tensors, uint64_t n_pairs, uint32_t version = 3) {
    bytes_ = kGgufMagic;
    number(version).number(n_tensors).number(n_pairs);
  }

  template <class T>
  GgufBytes& number(T value) {
    append_gguf_number(bytes_, value);
    return *this;
  }
  GgufBytes& string(std::string_view text) {
    append_gguf_string(bytes_, text);
    return *this;
  }
  GgufBytes& key(std::string_view name, GgufValueType type) { return string(name).number(type); }
  GgufBytes& text_pair(std::string_view name, std::string_view text) {
    return key(name, GgufValueType::kString).string(text);
  }
  GgufBytes& u32_pair(std::string_view name, uint32_t value) {
    return key(name, GgufValueType::kU32).number(value);
  }
  /// `type` is a number, so that it may be a wrong one.
  GgufBytes& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                    uint64_t offset) {
    string(name).number(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) number(dim);
    return number(type).number(offset);
  }
  GgufBytes& pad(uint64_t alignment = kGgufDefaultAlignment) {
    bytes_.resize(gguf_align_up(bytes_.size(), alignment));
    return *this;
  }
  GgufBytes& zeros(uint64_t n) {
    bytes_.append(n, '\0');
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Parses bytes as the file "m.gguf". `bytes` must outlive the result.
inline Result<ModelFile> parse_gguf_bytes(const std::string& bytes) {
  return parse_gguf(MappedFile::view("m.gguf", std::as_bytes(std::span(bytes))));
}

/// The message of an input that must be refused with `code`.
inline std::string gguf_refusal(const std::string& bytes,
                                ErrorCode code = ErrorCode::kCorruptFile) {
  const auto model = parse_gguf_bytes(bytes);
  EXPECT_FALSE(model.has_value());
  if (model) return "(it was accepted)";
  EXPECT_EQ(model.error().code, code) << model.error().message;
  return model.error().message;
}

inline std::string gguf_corpus_path(const std::string& name) {
  return TANDEM_SOURCE_DIR "/tests/fuzz/corpus/gguf/" + name;
}

inline std::string read_test_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A model that must open.
inline std::unique_ptr<const WeightSource> source_of(const std::string& path) {
  auto file = open_gguf(path);
  EXPECT_TRUE(file) << file.error().message;
  return make_gguf_source(std::move(*file));
}

/// A new empty folder, gone with the object.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = testing::TempDir() + "tandem_폴더_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tandem
