#pragma once

#include <memory>

#include "base/result.h"
#include "formats/weight_source.h"

namespace tandem {

/// The same model with rotations folded into its weights (QuaRot, Ashkboos et al., arXiv
/// 2404.00456), so that no input of a linear has channels far larger than the others:
///
///   residual stream  r' = T r: embedding rows, and the rows that attention output and ffn_down
///   add,
///                    are rotated; weights that read it through an RMS norm take the norm's weight
///                    and T^-1. The norms' weights become 1.
///   values           v' = R v in every head: attn_v makes them, attn_output takes R^-1.
///
/// Logits stay what they were but for rounding. A head that was the embedding becomes a tensor of
/// its own, since it takes the last norm's weight. `source` outlives the result. Errors:
/// kUnsupported for an architecture that norms what it adds, or naming a tensor whose place is not
/// known.
Result<std::unique_ptr<const WeightSource>> rotate_weights(const WeightSource& source);

}  // namespace tandem
