#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "synth/shapes.h"
#include "tensor/dtype.h"

namespace tandem::testing {

/// Names of the tiny shapes: one for each architecture, plus shapes that real files rarely have.
std::vector<std::string> tiny_shape_names();

/// A model of a few thousand weights: 3 layers, a vocabulary of 512, window 8 and original context
/// 16 where the architecture has them.
ModelShape tiny_shape(const std::string& name);

/// Writes and opens a tiny model; the file lives until the process ends.
std::shared_ptr<const Model> make_tiny_model(const ModelShape& shape, DType type = DType::kF32,
                                             uint64_t seed = 1);

/// Token ids below 512 that look random.
std::vector<TokenId> some_tokens(size_t n, uint64_t seed = 1);

/// The logits after each of `tokens` in a fresh session, appended in chunks of `chunk`.
std::vector<std::vector<float>> all_logits(const std::shared_ptr<Engine>& engine,
                                           const std::vector<TokenId>& tokens, size_t chunk);

/// The logits after `prompt` and after each of `n_generated` greedy tokens, in a fresh session.
std::vector<std::vector<float>> greedy_logits(const std::shared_ptr<Engine>& engine,
                                              const std::vector<TokenId>& prompt,
                                              size_t n_generated);

std::shared_ptr<Engine> make_engine(std::shared_ptr<const Model> model,
                                    const EngineOptions& options = {.context = 64, .n_threads = 2});

}  // namespace tandem::testing
