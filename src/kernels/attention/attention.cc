#include "kernels/attention/attention.h"

#include "kernels/attention/scratch.h"

namespace tandem::kernels {

#define TANDEM_ATTENTION_ROW(isa, space, name)  \
  namespace attention::space {                  \
  void run(const AttentionArgs& args) noexcept; \
  void write(const KvWriteArgs& args) noexcept; \
  }
#include "kernels/attention/kernels.inc"
#undef TANDEM_ATTENTION_ROW

namespace {

constexpr AttentionRow kRows[] = {
#define TANDEM_ATTENTION_ROW(isa, space, name) \
  {Isa::isa, name, attention::space::write, attention::space::run},
#include "kernels/attention/kernels.inc"
#undef TANDEM_ATTENTION_ROW
};

}  // namespace

size_t attention_scratch_bytes(size_t n_heads, size_t n_kv_heads, size_t key_size,
                               size_t value_size) {
  return attention::ScratchLayout::make(n_heads / n_kv_heads, key_size, value_size).end *
         sizeof(float);
}

std::span<const AttentionRow> attention_rows() { return kRows; }

const AttentionRow& select_attention(Isa isa) {
  const AttentionRow* best = &kRows[0];
  for (const AttentionRow& row : kRows) {
    if (row.isa <= isa) best = &row;
  }
  return *best;
}

}  // namespace tandem::kernels
