#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/weight_source.h"
#include "tensor/dtype.h"

namespace tandem {

/// What a tensor becomes: a GGUF type, or Q4_0 with a low plane.
struct TargetFormat {
  DType type = DType::kF16;
  bool nested = false;

  bool operator==(const TargetFormat&) const = default;
  /// "nested", "Q4_K".
  std::string name() const;
  /// Of a tensor's bytes, both planes included.
  double bits_per_weight() const;
  /// Whether its encoder weighs errors by the input's statistics: 4-bit groups, pruned or not.
  bool takes_importance() const { return type == DType::kQ4_0 || type == DType::kQ4_24; }
  /// "nested", a type that holds weights in upper or lower case, or a name by use: int2 (Q2_K),
  /// int4 (Q4_0), int8 (Q8_0), fp8 (MXFP8), 2:4 (Q4_24). Errors: kInvalidArgument listing the
  /// names.
  static Result<TargetFormat> parse(std::string_view name);
};

/// "blk.*.ffn_down.weight=q8_0": tensors whose name matches get another format.
struct FormatRule {
  std::string pattern;  ///< * and ? are wildcards
  TargetFormat format;

  static Result<FormatRule> parse(std::string_view text);
};

/// What to make of every tensor of a model.
struct FormatChoice {
  TargetFormat matrices{DType::kQ4_0, true};
  std::vector<FormatRule> rules = {};  ///< the last that matches wins

  /// Vectors become F32. Matrices get the chosen format, or where their rows are no whole blocks
  /// the one with blocks of 32 nearest in size, or F16.
  TargetFormat choose(const SourceTensor& tensor) const;
};

/// Whether `text` matches `pattern`, in which * stands for any text and ? for one byte.
bool matches_wildcards(std::string_view text, std::string_view pattern);

}  // namespace tandem
