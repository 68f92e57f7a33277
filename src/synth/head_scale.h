#pragma once

#include "synth/synthesize.h"

namespace tandem {

/// Runs the model at `path` on random tokens and finds the factor on its output norm at which the
/// most likely token's probability is `target` on average.
Result<SynthReport> find_head_scale(const std::string& path, double target, uint64_t seed,
                                    int n_threads);

}  // namespace tandem
