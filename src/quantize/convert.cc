// Streams a model's tensors into a new file.

#include "quantize/convert.h"

#include <algorithm>
#include <cmath>

#include "base/cpu_features.h"
#include "formats/linear_inputs.h"
#include "formats/nested_section.h"
#include "formats/nested_writer.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

constexpr std::string_view kFileTypeKey = "general.file_type";

int threads_of(const ConvertOptions& options) {
  return options.n_threads == 0 ? usable_processors() : options.n_threads;
}

double relative(double error, double weights) {
  return weights > 0 ? std::sqrt(error / weights) : 0.0;
}

/// llama.cpp's number for a file whose matrices mostly have this type; it only names the file.
std::optional<uint32_t> file_type_of(DType type) {
  switch (type) {
    case DType::kF32:
      return 0;
    case DType::kF16:
      return 1;
    case DType::kQ4_0:
      return 2;
    case DType::kQ4_1:
      return 3;
    case DType::kQ8_0:
      return 7;
    case DType::kQ5_0:
      return 8;
    case DType::kQ5_1:
      return 9;
    case DType::kQ2_K:
      return 10;
    case DType::kQ4_K:
      return 14;
    case DType::kQ5_K:
      return 16;
    case DType::kQ6_K:
      return 18;
    case DType::kBF16:
      return 32;
    default:
      return std::nullopt;
  }
}

void drop_nested_keys(Metadata& metadata) {
  Metadata out(metadata.source());
  for (const auto& [key, value] : metadata.entries()) {
    if (!key.starts_with("tandem.nested.")) out.set(key, value);
  }
  metadata = std::move(out);
}

/// Writes one tensor after another, as `encode` makes them, and keeps the books.
class Conversion {
 public:
  using Encode = std::function<Result<EncodedTensor>(size_t index)>;

  Conversion(const WeightSource& source, Encode encode)
      : source_(source), encode_(std::move(encode)) {}

  void add(size_t index, TargetFormat target, bool weighted) {
    const SourceTensor& tensor = source_.tensors()[index];
    NestedTensorToWrite out;
    out.tensor = {tensor.name, target.type, tensor.dims,
                  [this, index, target, weighted] { return produce(index, target, weighted); }};
    out.has_low = target.nested;
    if (target.nested) {
      out.produce_low = [this] {
        return Result<LowPlaneToWrite>(
            LowPlaneToWrite{encoded_.low, encoded_.shift, encoded_.checksum});
      };
    }
    tensors_.push_back(std::move(out));
  }

  Result<ConvertReport> write(const std::string& path, Metadata metadata,
                              const ConvertOptions& options) {
    TANDEM_TRY(
        write_nested_gguf(path, options.sidecar, std::move(metadata), tensors_, options.progress));
    return std::move(report_);
  }

  ConvertReport& report() { return report_; }

 private:
  Result<std::span<const std::byte>> produce(size_t index, TargetFormat target, bool weighted) {
    TANDEM_TRY(encoded_, encode_(index));
    source_.release(index);
    const SourceTensor& tensor = source_.tensors()[index];
    const NestedErrors& e = encoded_.errors;
    report_.tensors.push_back({tensor.name, tensor.stored_type, target.name(), tensor.n_elements(),
                               encoded_.high.size() + encoded_.low.size(), encoded_.shift, weighted,
                               relative(e.high, e.weights), relative(e.both, e.weights)});
    return encoded_.high;
  }

  const WeightSource& source_;
  Encode encode_;
  EncodedTensor encoded_;  ///< the last one: its low plane is asked for after its high plane
  std::vector<NestedTensorToWrite> tensors_;
  ConvertReport report_;
};

/// Where a tensor's importance comes from.
Result<std::shared_ptr<const InputStatistics>> statistics_of(const std::string& name,
                                                             const ConvertOptions& options) {
  if (options.calibrator != nullptr) {
    if (options.nested.feedback) return options.calibrator->with_moments(name);
    return options.calibrator->statistics(name);
  }
  if (options.importance == nullptr) return std::shared_ptr<const InputStatistics>();
  const auto found = options.importance->find(name);
  return found == options.importance->end() ? nullptr : found->second;
}

bool has_statistics(const std::string& name, const ConvertOptions& options) {
  if (options.calibrator != nullptr) return options.calibrator->statistics(name) != nullptr;
  return options.importance != nullptr && options.importance->contains(name);
}

}  // namespace

uint64_t ConvertReport::n_weights() const {
  uint64_t n = 0;
  for (const ConvertedTensor& t : tensors) n += t.n_weights;
  return n;
}

uint64_t ConvertReport::n_bytes() const {
  uint64_t n = 0;
  for (const ConvertedTensor& t : tensors) n += t.n_bytes;
  return n;
}

double ConvertReport::bits_per_weight() const {
  const uint64_t n = n_weights();
  return n == 0 ? 0 : 8.0 * static_cast<double>(n_bytes()) / static_cast<double>(n);
}

Result<ConvertReport> convert(const WeightSource& source, const std::string& path,
                              Metadata metadata, const ConvertOptions& options) {
  if (describes_low_planes(source.metadata())) {
    return failure(ErrorCode::kInvalidArgument,
                   "{}: it is nested already; convert the original weights, or take its low planes "
                   "away (--strip)",
                   source.metadata().source());
  }
  TensorEncoder encoder(threads_of(options));
  std::vector<TargetFormat> targets;
  const auto encode = [&](size_t index) -> Result<EncodedTensor> {
    const TargetFormat target = targets[index];
    const SourceTensor& tensor = source.tensors()[index];
    if (!holds_weights(tensor.exact_type) || target == TargetFormat{tensor.exact_type, false}) {
      return encoder.copy(source, index);
    }
    std::shared_ptr<const InputStatistics> statistics;
    if (target.takes_importance()) {
      TANDEM_TRY(statistics, statistics_of(tensor.name, options));
    }
    return encoder.encode(source, index, target, statistics.get(), options.nested);
  };
  Conversion conversion(source, encode);
  const bool wants_importance = options.calibrator != nullptr || options.importance != nullptr;
  for (size_t i = 0; i < source.tensors().size(); ++i) {
    const SourceTensor& tensor = source.tensors()[i];
    targets.push_back(options.formats.choose(tensor));
    const bool is_matrix = tensor.dims.size() > 1 && tensor.n_rows() > 1;
    const uint32_t block = info(options.formats.matrices.type).block_size;
    if (is_matrix && tensor.row_length() % block != 0) {
      conversion.report().fallbacks.push_back(tensor.name);
    }
    // K-quants and Q8_0 weigh all weights equally.
    const bool takes_importance = targets[i].takes_importance();
    const bool weighted = takes_importance && has_statistics(tensor.name, options);
    if (takes_importance && wants_importance && !weighted) {
      conversion.report().without_importance.push_back(tensor.name);
    }
    conversion.add(i, targets[i], weighted);
  }
  if (const auto type = file_type_of(options.formats.matrices.type)) {
    metadata.set(std::string(kFileTypeKey), *type);
  }
  metadata.set("general.quantization_version", uint32_t{2});
  return conversion.write(path, std::move(metadata), options);
}

Result<ConvertReport> strip_low_planes(const WeightSource& source, const std::string& path,
                                       const ConvertOptions& options) {
  TensorEncoder encoder(threads_of(options));
  Conversion conversion(source, [&](size_t index) { return encoder.copy(source, index); });
  for (size_t i = 0; i < source.tensors().size(); ++i) {
    conversion.add(i, {source.tensors()[i].exact_type, false}, false);
  }
  Metadata metadata = source.metadata();
  drop_nested_keys(metadata);
  return conversion.write(path, std::move(metadata), options);
}

Result<ConvertReport> add_refinement(const WeightSource& source, const WeightSource& original,
                                     const std::string& path, const ConvertOptions& options) {
  TensorEncoder encoder(threads_of(options));
  std::vector<std::optional<size_t>> originals;
  Conversion conversion(source, [&](size_t index) -> Result<EncodedTensor> {
    if (!originals[index]) return encoder.copy(source, index);
    auto refined = encoder.refine(source, index, original, *originals[index]);
    original.release(*originals[index]);
    return refined;
  });
  size_t n_refined = 0;
  for (size_t i = 0; i < source.tensors().size(); ++i) {
    const SourceTensor& tensor = source.tensors()[i];
    const bool is_high = tensor.exact_type == DType::kQ4_0;
    originals.push_back(is_high ? original.find(tensor.name) : std::nullopt);
    if (is_high && !originals[i]) {
      return failure(ErrorCode::kInvalidArgument, "{}: tensor '{}' is missing",
                     original.metadata().source(), tensor.name);
    }
    if (is_high && original.tensors()[*originals[i]].dims != tensor.dims) {
      return failure(ErrorCode::kInvalidArgument, "{}: tensor '{}' has shape {}, in {} it has {}",
                     original.metadata().source(), tensor.name,
                     original.tensors()[*originals[i]].shape_text(), source.metadata().source(),
                     tensor.shape_text());
    }
    n_refined += is_high;
    conversion.add(i, {tensor.exact_type, is_high}, false);
  }
  if (n_refined == 0) {
    return failure(ErrorCode::kInvalidArgument, "{}: none of its {} tensors is Q4_0",
                   source.metadata().source(), source.tensors().size());
  }
  Metadata metadata = source.metadata();
  drop_nested_keys(metadata);
  return conversion.write(path, std::move(metadata), options);
}

void describe_activations(const Calibrator& calibrator, const WeightSource& source,
                          const ConvertOptions& options, Metadata& metadata) {
  LinearInputs out{.outlier_factor = options.outlier_factor};
  for (const SourceTensor& tensor : source.tensors()) {
    const auto seen = calibrator.statistics(tensor.name);
    if (seen == nullptr) continue;
    const bool is_wide = std::ranges::any_of(options.wide_activations, [&](const std::string& p) {
      return matches_wildcards(tensor.name, p);
    });
    out.inputs.push_back({tensor.name, seen->minimum, seen->maximum,
                          seen->outliers(options.outlier_factor), is_wide});
  }
  store_linear_inputs(out, metadata);
}

}  // namespace tandem
