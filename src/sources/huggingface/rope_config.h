#pragma once

#include "base/log.h"
#include "formats/metadata.h"
#include "sources/huggingface/decoder_shape.h"
#include "sources/json_file.h"

namespace tandem {

/// Translates rope_theta and rope_scaling or rope_parameters, in each of their spellings, into the
/// rope.* keys and the tensors of frequency divisors. `context_length` is max_position_embeddings.
/// Errors: kUnsupported for a kind of scaling we do not run, kCorruptFile for missing parameters.
Result<void> read_rope_config(const JsonConfig& config, uint32_t context_length,
                              DecoderShape& shape, Metadata& metadata, const LogSink& log);

/// Divisors of the head_size / 2 rotary frequencies by Llama 3.1's rule: long waves are slowed by
/// `factor`, short ones kept, those between blended (Llama 3.1 model card and reference code).
struct Llama3Scaling {
  uint32_t head_size;
  float base;
  float factor;
  float low_freq_factor;
  float high_freq_factor;
  uint32_t original_context;
};
std::vector<float> llama3_divisors(const Llama3Scaling& scaling);

}  // namespace tandem
