// Any bytes either are refused as low planes or give a table whose planes can all be read; the same
// for whole files, where planes that open also verify or say what is wrong.

#include <cstdint>
#include <span>

#include "base/check.h"
#include "formats/gguf_reader.h"
#include "formats/nested_section.h"

namespace {

using namespace tandem;

volatile uint64_t sink;

void check_section(std::span<const std::byte> bytes) {
  const auto entries = parse_nested_section("fuzz", bytes);
  if (!entries) {
    TANDEM_CHECK(entries.error().message.starts_with("fuzz: "));
    return;
  }
  uint64_t sum = 0;
  for (const LowPlaneEntry& e : *entries) {
    for (const std::byte b : bytes.subspan(e.offset, e.n_bytes)) sum += static_cast<uint8_t>(b);
  }
  sink = sum;
}

void check_file(std::span<const std::byte> bytes) {
  auto model = parse_gguf(MappedFile::view("fuzz.gguf", bytes));
  if (!model || !attach_low_planes(*model, MissingPlanes::kRefuse)) return;
  ThreadPool pool(1);
  std::vector<float> row;
  for (const TensorView& t : model->tensors) {
    if (t.nested == nullptr || !verify_nested(*t.nested, pool)) continue;
    row.resize(t.nested->columns);
    const size_t high = t.nested->high.size() / t.nested->rows, low = low_row_bytes(row.size());
    for (size_t i = 0; i < t.nested->rows; ++i) {
      decode_nested_row(t.nested->high.data() + i * high, t.nested->low.data() + i * low,
                        row.size(), t.nested->shift, row.data());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_section(bytes);
  check_file(bytes);
  return 0;
}
