#pragma once

#include <cstdint>
#include <vector>

#include "soc/work.h"

namespace tandem::soc {

/// The sizes of a transformer that its work depends on.
struct ModelSizes {
  uint32_t n_layers = 0;
  uint32_t width = 0;
  uint32_t n_heads = 0;
  uint32_t n_kv_heads = 0;
  uint32_t head_size = 0;
  uint32_t ffn_width = 0;
  uint32_t vocabulary = 0;
  bool qk_norm = false;
  uint32_t window = 0;        ///< positions that a local layer's attention sees; 0: all
  uint32_t global_every = 0;  ///< each so manyth layer sees all nevertheless; 0: none
};

/// The nodes of one step in the order of the model's graph: `n_tokens` rows whose last sees
/// `context` positions. The output head runs on one row when `with_head`. `head_bits` are a
/// weight's bits there.
struct StepWork {
  uint64_t n_tokens = 1;
  uint64_t context = 1;
  bool with_head = true;
  double head_bits = 4.5;
  NumericType head_weights = NumericType::kInt4;
};
std::vector<Work> model_work(const ModelSizes& model, const WorkTypes& types, const StepWork& step);

}  // namespace tandem::soc
