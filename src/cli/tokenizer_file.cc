// Finds the tokenizer that the commands tokenize and detokenize work with.

#include "cli/tokenizer_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/mapped_file.h"
#include "cli/command.h"
#include "cli/embedded_model.h"
#include "formats/gguf_reader.h"
#include "sources/open_weight_source.h"

namespace tandem::cli {

Result<std::unique_ptr<const Tokenizer>> load_tokenizer(const std::string& path,
                                                        const std::string& pre_override) {
  TokenizerOptions options;
  options.pre_override = pre_override;
  options.log = print_warning;
  if (path.empty()) {
    TANDEM_TRY(const ModelFile model, parse_gguf(embedded_model()));
    return Tokenizer::from_metadata(model.metadata, options);
  }
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string in_folder = path + "/tokenizer.json";
  if (folder && !std::filesystem::exists(in_folder, ignored)) {
    TANDEM_TRY(const ModelFile model, open_model_file(path, {.log = options.log}));
    return Tokenizer::from_metadata(model.metadata, options);
  }
  const std::string file_path = folder ? in_folder : path;
  TANDEM_TRY(const auto file, MappedFile::open(file_path));
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()),
                               file->bytes().size());
  const size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool is_json = first != std::string_view::npos && bytes[first] == '{';
  if (!is_json) {
    TANDEM_TRY(const ModelFile model, open_gguf(file_path));
    return Tokenizer::from_metadata(model.metadata, options);
  }
  auto tokenizer = Tokenizer::from_json(bytes, options);
  if (!tokenizer) return tl::unexpected<Error>(tokenizer.error().within(file_path));
  return tokenizer;
}

Result<std::string> read_standard_input() {
  std::string text;
  char buffer[1 << 16];
  for (size_t n = 1; n > 0;) {
    n = std::fread(buffer, 1, sizeof(buffer), stdin);
    text.append(buffer, n);
  }
  if (std::ferror(stdin)) {
    return failure(ErrorCode::kIo, "standard input: cannot read: {}", std::strerror(errno));
  }
  return text;
}

}  // namespace tandem::cli
