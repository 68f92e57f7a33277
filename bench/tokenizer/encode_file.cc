// Times the encoding of whole files: our side of the throughput benchmark (compare.mjs).
//
//   encode_file TOKENIZER FILE...
//
// Prints for each file, for every line that comes on standard input, the processor seconds one
// encoding took and the number of tokens; so the caller can take turns with another implementation.

#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "formats/gguf_reader.h"
#include "text/tokenizer/tokenizer.h"

namespace {

using namespace tandem;

/// Processor time: what other programs do meanwhile does not count.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Result<std::unique_ptr<const Tokenizer>> load(const std::string& path) {
  if (path.ends_with(".gguf")) {
    TANDEM_TRY(const ModelFile file, open_gguf(path));
    return Tokenizer::from_metadata(file.metadata);
  }
  TANDEM_TRY(const auto file, MappedFile::open(path));
  return Tokenizer::from_json(text_of(*file));
}

Result<void> run(int argc, char** argv) {
  if (argc < 3) return failure(ErrorCode::kInvalidArgument, "encode_file TOKENIZER FILE...");
  const double start = processor_seconds();
  TANDEM_TRY(const auto tokenizer, load(argv[1]));
  fmt::print("loaded {:.6f}\n", processor_seconds() - start);
  std::fflush(stdout);
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (int i = 2; i < argc; ++i) {
    TANDEM_TRY(auto file, MappedFile::open(argv[i]));
    files.push_back(std::move(file));
  }
  for (std::string line; std::getline(std::cin, line);) {
    for (const auto& file : files) {
      const double begin = processor_seconds();
      TANDEM_TRY(const auto ids, tokenizer->encode(text_of(*file), {.add_special = false}));
      fmt::print("{:.6f} {}\n", processor_seconds() - begin, ids.size());
    }
    std::fflush(stdout);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto outcome = run(argc, argv);
  if (!outcome) fmt::print(stderr, "{}\n", outcome.error().message);
  return outcome ? 0 : 1;
}
