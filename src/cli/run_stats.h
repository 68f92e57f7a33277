#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/generation.h"

namespace tandem::cli {

/// What one generation cost, as people and as programs read it.
struct RunStats {
  std::string model;
  std::string device;       ///< "cpu: AMD EPYC, avx512_vnni, 2 threads"
  double load_seconds = 0;  ///< from the start of loading to a compiled plan
  uint64_t seed = 0;
  GenerationResult result;
  uint32_t n_reused = 0;  ///< tokens of the prompt that the cache already held
  uint64_t weight_bytes_per_step = 0;
  uint64_t peak_resident_bytes = 0;
  std::string simulated = {};  ///< the chip that times and joules are of; empty: none
  double compile_seconds = 0;  ///< simulated, part of the first answer unless warmed up
  double wake_seconds = 0;     ///< likewise
  std::vector<std::string> delegation = {};  ///< a line for each phase; empty: the processor alone
  std::vector<Incident> incidents = {};      ///< devices that failed

  static RunStats collect(const Engine& engine, const Sampler& sampler, double load_seconds,
                          GenerationResult result, uint32_t n_reused);

  double prefill_rate() const;            ///< tokens a second; 0 when nothing was computed
  double decode_rate() const;             ///< tokens a second after the first
  double streamed_gb_per_second() const;  ///< weights read while decoding
  /// "simulated: NAME": tokens/s and mJ/token in one line.
  std::string simulated_line() const;
  /// A line for each device that failed, with what it means for the answer; empty: none.
  std::string incident_lines() const;
  std::string to_text() const;
  nlohmann::ordered_json to_json() const;
};

/// VmHWM of this process in bytes; 0 when the system does not tell.
uint64_t peak_resident_bytes();

}  // namespace tandem::cli
