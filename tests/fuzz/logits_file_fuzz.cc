// Any bytes either are refused as stored logits, or give rows whose values are sane.

#include <cmath>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "evaluation/logits_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tandem;
  auto reader =
      LogitsReader::parse(MappedFile::view("fuzz.logits", std::as_bytes(std::span(data, size))));
  if (!reader) {
    TANDEM_CHECK(reader.error().message.starts_with("fuzz.logits: "));
    return 0;
  }
  LogitsReader::Row row;
  while (reader->next(row)) {
    TANDEM_CHECK(row.ids.size() == row.log_probabilities.size());
    TANDEM_CHECK(row.ids.back() < static_cast<TokenId>(reader->binding().vocabulary));
    TANDEM_CHECK(std::isfinite(row.distribution.offset));
  }
  return 0;
}
