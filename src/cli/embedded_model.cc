#include "cli/embedded_model.h"

// From embedded_model.S.
extern "C" const std::byte tandem_embedded_model_begin[];
extern "C" const std::byte tandem_embedded_model_end[];

namespace tandem::cli {

std::shared_ptr<const MappedFile> embedded_model() {
  return MappedFile::view("demo", {tandem_embedded_model_begin, tandem_embedded_model_end},
                          ViewOf::kProgram);
}

}  // namespace tandem::cli
