#include "quantize/importance.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "formats/gguf_reader.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

constexpr std::string_view kSums = ".in_sum2", kCounts = ".counts";

Result<std::vector<float>> numbers(const ModelFile& file, const TensorView& tensor) {
  if (tensor.type != DType::kF32) {
    return failure(ErrorCode::kCorruptFile, "{}: tensor '{}' is {}, must be F32",
                   file.metadata.source(), tensor.name, name(tensor.type));
  }
  std::vector<float> out(tensor.n_elements());
  std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (std::isfinite(out[i]) && out[i] >= 0) continue;
    return failure(ErrorCode::kNumeric, "{}: tensor '{}': element {} is {}, must be 0 or more",
                   file.metadata.source(), tensor.name, i, out[i]);
  }
  return out;
}

Result<std::shared_ptr<const InputStatistics>> read_entry(const ModelFile& file,
                                                          const TensorView& sums,
                                                          const std::string& weight) {
  const TensorView* counts = file.find(weight + std::string(kCounts));
  if (counts == nullptr) {
    return failure(ErrorCode::kCorruptFile, "{}: tensor '{}{}' is missing", file.metadata.source(),
                   weight, kCounts);
  }
  TANDEM_TRY(const std::vector<float> values, numbers(file, sums));
  TANDEM_TRY(const std::vector<float> n_seen, numbers(file, *counts));
  auto out = std::make_shared<InputStatistics>();
  out->value = weight;
  const size_t columns = sums.dims[0];
  out->sum_squares.resize(columns);
  for (size_t i = 0; i < values.size(); ++i) out->sum_squares[i % columns] += values[i];
  out->n_rows = static_cast<uint64_t>(std::accumulate(n_seen.begin(), n_seen.end(), 0.0));
  return out;
}

}  // namespace

std::vector<float> InputStatistics::importance() const {
  std::vector<float> out(sum_squares.size());
  const double n = static_cast<double>(n_rows == 0 ? 1 : n_rows);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(sum_squares[i] / n);
  return out;
}

std::vector<uint32_t> InputStatistics::outliers(float factor) const {
  std::vector<uint32_t> out;
  if (n_rows == 0 || largest.empty()) return out;
  const double total = std::accumulate(sum_squares.begin(), sum_squares.end(), 0.0);
  const double rms =
      std::sqrt(total / (static_cast<double>(n_rows) * static_cast<double>(largest.size())));
  for (size_t i = 0; i < largest.size(); ++i) {
    if (largest[i] >= factor * rms) out.push_back(static_cast<uint32_t>(i));
  }
  return out;
}

Result<Statistics> load_imatrix(const std::string& path) {
  auto opened = open_gguf(path);
  if (!opened) return tl::unexpected(opened.error().within("importance matrix"));
  const ModelFile& file = *opened;
  TANDEM_TRY(const std::string type, file.metadata.string_or("general.type", ""));
  if (type != "imatrix") {
    return failure(ErrorCode::kCorruptFile, "{}: general.type is '{}', expected 'imatrix'", path,
                   type);
  }
  Statistics out;
  for (const TensorView& t : file.tensors) {
    if (!t.name.ends_with(kSums)) continue;
    const std::string weight = t.name.substr(0, t.name.size() - kSums.size());
    TANDEM_TRY(auto entry, read_entry(file, t, weight));
    if (entry->n_rows > 0) out.emplace(weight, std::move(entry));
  }
  return out;
}

}  // namespace tandem
