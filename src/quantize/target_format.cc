#include "quantize/target_format.h"

#include "tensor/convert.h"
#include "tensor/small_block_format.h"

namespace tandem {
std::string TargetFormat::name() const {
  return nested ? "nested" : std::string(tandem::name(type));
}

double TargetFormat::bits_per_weight() const {
  const DTypeInfo& i = info(type);
  return 8.0 * i.block_bytes / i.block_size + (nested ? 4 : 0);
}

namespace {

/// Names by what a format is for.
constexpr std::pair<std::string_view, DType> kUses[] = {{"int2", DType::kQ2_K},
                                                        {"int4", DType::kQ4_0},
                                                        {"int8", DType::kQ8_0},
                                                        {"fp8", DType::kMXFP8},
                                                        {"2:4", DType::kQ4_24}};

}  // namespace

Result<TargetFormat> TargetFormat::parse(std::string_view name) {
  if (name == "nested") return TargetFormat{DType::kQ4_0, true};
  for (const auto& [use, type] : kUses) {
    if (name == use) return TargetFormat{type, false};
  }
  const auto type = dtype_from_name(name);
  if (type && holds_weights(*type)) return TargetFormat{*type, false};
  std::string known = "nested, int2, int4, int8, fp8, 2:4";
  for (const DTypeInfo& i : all_dtypes()) {
    if (holds_weights(i.type)) known += ", " + std::string(i.name);
  }
  return failure(ErrorCode::kInvalidArgument, "format \"{}\" is not known; known are {}", name,
                 known);
}

Result<FormatRule> FormatRule::parse(std::string_view text) {
  const size_t at = text.rfind('=');
  if (at == std::string_view::npos || at == 0) {
    return failure(ErrorCode::kInvalidArgument, "\"{}\" is no rule of the form PATTERN=FORMAT",
                   text);
  }
  TANDEM_TRY(const TargetFormat format, TargetFormat::parse(text.substr(at + 1)));
  return FormatRule{std::string(text.substr(0, at)), format};
}

TargetFormat FormatChoice::choose(const SourceTensor& tensor) const {
  if (!holds_weights(tensor.exact_type)) return {tensor.exact_type, false};
  if (tensor.dims.size() == 1 || tensor.n_rows() == 1) return {DType::kF32, false};
  TargetFormat out = matrices;
  for (const FormatRule& rule : rules) {
    if (matches_wildcards(tensor.name, rule.pattern)) out = rule.format;
  }
  while (tensor.row_length() % info(out.type).block_size != 0) {
    out = {small_block_format(out.type), false};
  }
  return out;
}

bool matches_wildcards(std::string_view text, std::string_view pattern) {
  size_t t = 0, p = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++t;
      ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace tandem
