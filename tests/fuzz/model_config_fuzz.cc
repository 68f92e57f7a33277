// Any config.json either is refused with an error or gives keys that our own reader accepts and a
// plan of tensors with unique names and sizes that do not overflow.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sources/huggingface/model_config.h"
#include "sources/huggingface/tensor_plan.h"

namespace {

using namespace tandem;

void check_plan(const DecoderShape& shape, CheckpointNames names) {
  std::set<std::string> seen;
  for (const PlannedTensor& tensor : plan_tensors(shape, names)) {
    TANDEM_CHECK(seen.insert(tensor.name).second);
    TANDEM_CHECK(tensor.rows > 0 && tensor.columns > 0);
    TANDEM_CHECK(tensor.rows <= (uint64_t{1} << 62) / tensor.columns);
    const uint64_t extent = tensor.is_vector ? tensor.columns : tensor.rows;
    TANDEM_CHECK(tensor.first + extent <= tensor.stored_extent);
    TANDEM_CHECK(tensor.head_rows == 0 || extent % tensor.head_rows == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config =
      JsonConfig::parse("config.json", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!config) return 0;
  Metadata metadata("config.json");
  auto shape = read_model_config(*config, metadata);
  if (!shape) {
    TANDEM_CHECK(shape.error().message.starts_with("config.json"));
    return 0;
  }
  TANDEM_CHECK(metadata.string("general.architecture") == shape->architecture);
  if (shape->n_layers > 3) shape->n_layers = 3;  // the others have the same names
  check_plan(*shape, CheckpointNames::kHuggingFace);
  check_plan(*shape, CheckpointNames::kMlc);
  return 0;
}
