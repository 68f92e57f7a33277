// Reading of arbitrary bytes as a table of published figures.

#include <cstdint>
#include <cstdlib>

#include "published/rows.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto rows =
      tandem::published::parse_rows({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!rows) return 0;
  for (const auto& row : *rows) {
    if (row.soc.empty() || !(row.prompt_tokens > 0)) std::abort();
  }
  return 0;
}
