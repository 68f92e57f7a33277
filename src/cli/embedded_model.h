#pragma once

#include <memory>

#include "base/mapped_file.h"

namespace tandem::cli {

/// The demo model that the program carries, as a GGUF file named "demo".
std::shared_ptr<const MappedFile> embedded_model();

}  // namespace tandem::cli
