#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "soc/numeric_type.h"

namespace tandem::published {

/// A published measurement of a language model on a SoC; a line of data/published_npu_llm.csv.
struct Row {
  std::string soc;      ///< a profile's name
  std::string variant;  ///< of the profile: the software that was measured
  std::string unit;     ///< "npu", "cpu", or units together
  std::string model;
  std::optional<double> n_weights;  ///< of the model, when stated
  std::string weight_bits;
  std::optional<soc::NumericType> activations;
  double prompt_tokens = 1024;  ///< 1024 when not stated
  std::optional<double> prefill_tok_s;
  std::optional<double> decode_tok_s;
  std::optional<double> prefill_j_tok;
  std::optional<double> decode_j_tok;
  bool rails_only = false;  ///< energy of the chip's rails, without DRAM
  bool judge_speed = false;
  bool judge_energy = false;
  std::string source;
  size_t line = 0;
};

/// Reads the table. `origin` names it in errors. Errors: kCorruptFile naming line, column, value.
Result<std::vector<Row>> parse_rows(std::string_view csv, const std::string& origin);

/// The table of this build.
std::string_view builtin_rows();

}  // namespace tandem::published
