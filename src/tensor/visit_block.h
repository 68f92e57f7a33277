#pragma once

#include "base/check.h"
#include "tensor/blocks/iq4_nl.h"
#include "tensor/blocks/iq4_xs.h"
#include "tensor/blocks/mxfp4.h"
#include "tensor/blocks/mxfp8.h"
#include "tensor/blocks/q2_0.h"
#include "tensor/blocks/q2_k.h"
#include "tensor/blocks/q3_k.h"
#include "tensor/blocks/q4_0.h"
#include "tensor/blocks/q4_1.h"
#include "tensor/blocks/q4_24.h"
#include "tensor/blocks/q4_k.h"
#include "tensor/blocks/q5_0.h"
#include "tensor/blocks/q5_1.h"
#include "tensor/blocks/q5_k.h"
#include "tensor/blocks/q6_k.h"
#include "tensor/blocks/q8_0.h"
#include "tensor/dtype.h"

namespace tandem {

/// Names a block type as a value: `visit_block(type, [](auto tag) { typename decltype(tag)::Block
/// b;
/// ... })`.
template <class B>
struct BlockTag {
  using Block = B;
};

/// Calls `f` with the tag of a quantized type's block; the one place that maps DType to structs.
/// `is_quantized(type)` must hold.
template <class F>
decltype(auto) visit_block(DType type, F&& f) {
  switch (type) {
    case DType::kQ4_0:
      return f(BlockTag<BlockQ4_0>{});
    case DType::kQ4_1:
      return f(BlockTag<BlockQ4_1>{});
    case DType::kQ5_0:
      return f(BlockTag<BlockQ5_0>{});
    case DType::kQ5_1:
      return f(BlockTag<BlockQ5_1>{});
    case DType::kQ8_0:
      return f(BlockTag<BlockQ8_0>{});
    case DType::kQ2_K:
      return f(BlockTag<BlockQ2_K>{});
    case DType::kQ3_K:
      return f(BlockTag<BlockQ3_K>{});
    case DType::kQ4_K:
      return f(BlockTag<BlockQ4_K>{});
    case DType::kQ5_K:
      return f(BlockTag<BlockQ5_K>{});
    case DType::kQ6_K:
      return f(BlockTag<BlockQ6_K>{});
    case DType::kIQ4_NL:
      return f(BlockTag<BlockIq4Nl>{});
    case DType::kIQ4_XS:
      return f(BlockTag<BlockIq4Xs>{});
    case DType::kMXFP4:
      return f(BlockTag<BlockMxfp4>{});
    case DType::kMXFP8:
      return f(BlockTag<BlockMxfp8>{});
    case DType::kQ2_0:
      return f(BlockTag<BlockQ2_0>{});
    case DType::kQ4_24:
      return f(BlockTag<BlockQ4_24>{});
    default:
      check_failed(__FILE__, __LINE__, "is_quantized(type)");
  }
}

}  // namespace tandem
