#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/mapped_file.h"
#include "formats/model_file.h"

namespace tandem {

/// Opens a GGUF file of version 2 or 3 (docs/gguf.md). Any part of a split model opens all of it.
/// Nothing is trusted: every count, offset, size, alignment and name is checked against the file
/// before use, and an error names file, key or tensor, value and limit.
Result<ModelFile> open_gguf(const std::string& path);

/// Parses one mapped file that holds a whole model; split parts are refused. The parser's only
/// entry point for fuzzing and embedded models.
Result<ModelFile> parse_gguf(std::shared_ptr<const MappedFile> file);

}  // namespace tandem
