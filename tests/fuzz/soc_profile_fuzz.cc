// Reading of arbitrary bytes as a SoC profile, and a small model's cost on whatever comes out.

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "soc/cost.h"
#include "soc/model_work.h"
#include "soc/profile_reader.h"

namespace {

using namespace tandem::soc;

void require(bool condition) {
  if (!condition) std::abort();
}

void use(const SocProfile& soc) {
  constexpr ModelSizes kModel{.n_layers = 1,
                              .width = 64,
                              .n_heads = 2,
                              .n_kv_heads = 1,
                              .head_size = 32,
                              .ffn_width = 96,
                              .vocabulary = 128};
  const auto list = model_work(kModel, {}, {.n_tokens = 5, .context = 9});
  require(std::isfinite(cpu_cost(soc, list, {}).seconds));
  for (const NpuProfile& npu : soc.npus) {
    const SegmentCost cost = npu_cost(soc, npu, list, {.with_spans = true});
    require(std::isfinite(cost.seconds) && cost.seconds >= 0);
    require(std::isfinite(cost.energy.device()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto soc = parse_profile({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (soc) use(*soc);
  return 0;
}
