#include "kernels/attention/attention.h"

#include "kernels/attention/scratch.h"

namespace tandem::kernels {

#define TANDEM_ATTENTION_ROW(isa, storage, space, suffix) \
  namespace attention::space {                            \
  void run_##suffix(const AttentionArgs& args) noexcept;  \
  void write_##suffix(const KvWriteArgs& args) noexcept;  \
  }
#include "kernels/attention/kernels.inc"
#undef TANDEM_ATTENTION_ROW

namespace {

constexpr AttentionRow kRows[] = {
#define TANDEM_ATTENTION_ROW(isa, storage, space, suffix)         \
  {Isa::isa, KvStorage::storage, "attention_" #suffix "_" #space, \
   attention::space::write_##suffix, attention::space::run_##suffix},
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

const AttentionRow& select_attention(Isa isa, KvStorage storage) {
  const AttentionRow* best = nullptr;
  for (const AttentionRow& row : kRows) {
    if (row.storage == storage && row.isa <= isa) best = &row;
  }
  return *best;  // the scalar row of each storage is always there
}

}  // namespace tandem::kernels
