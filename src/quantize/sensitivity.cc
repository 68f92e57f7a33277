// Runs a model with some of its tensors in other formats and compares the next-token probabilities.

#include "quantize/sensitivity.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/cpu_features.h"
#include "engine/session.h"
#include "quantize/text_windows.h"

namespace tandem {
namespace {

constexpr uint32_t kRows = 128;

/// Turns logits into logarithms of probabilities.
void normalise(std::span<float> logits) {
  const float best = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (const float x : logits) total += std::exp(static_cast<double>(x) - best);
  const float shift = best + static_cast<float>(std::log(total));
  for (float& x : logits) x -= shift;
}

double divergence(std::span<const float> log_p, std::span<const float> log_q) {
  double sum = 0;
  for (size_t i = 0; i < log_p.size(); ++i) {
    sum += std::exp(static_cast<double>(log_p[i])) * (static_cast<double>(log_p[i]) - log_q[i]);
  }
  return sum;
}

/// Bytes as a mapped file that has no name on disk: devices drop the pages of weights they have
/// packed, which must not be anybody's memory.
Result<std::shared_ptr<const MappedFile>> in_memory_file(const std::string& name,
                                                         std::span<const std::byte> bytes) {
  const int file = memfd_create("weights", MFD_CLOEXEC);
  if (file < 0)
    return failure(ErrorCode::kIo, "{}: no memory file: {}", name, std::strerror(errno));
  Result<void> written;
  while (!bytes.empty() && written) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n <= 0) {
      written = failure(ErrorCode::kOutOfMemory, "{}: cannot hold {} bytes: {}", name, bytes.size(),
                        std::strerror(errno));
    } else {
      bytes = bytes.subspan(static_cast<size_t>(n));
    }
  }
  Result<std::shared_ptr<const MappedFile>> out =
      tl::unexpected(Error{ErrorCode::kIo, name + ": not written"});
  if (written) out = MappedFile::open(fmt::format("/proc/self/fd/{}", file));
  close(file);
  if (!written) return tl::unexpected(written.error());
  return out;
}

}  // namespace

SensitivityMeter::~SensitivityMeter() = default;

Result<std::unique_ptr<SensitivityMeter>> SensitivityMeter::create(
    std::shared_ptr<const Model> model, const WeightSource& source, const std::string& text,
    const Options& options) {
  const int n_threads = options.n_threads == 0 ? usable_processors() : options.n_threads;
  std::unique_ptr<SensitivityMeter> out(new SensitivityMeter(source, options, n_threads));
  TANDEM_TRY(out->windows_, cut_into_windows(*model, text, options.window, options.max_tokens));
  out->model_ = model;
  const size_t n_vocabulary = model->hyperparameters().vocabulary;
  size_t n_positions = 0;
  for (const auto& window : out->windows_) n_positions += window.size();
  out->reference_.resize(n_positions * n_vocabulary);
  TANDEM_TRY(out->run(std::move(model), [&](size_t position, std::span<const float> logits) {
    float* row = &out->reference_[position * n_vocabulary];
    std::copy(logits.begin(), logits.end(), row);
    normalise({row, n_vocabulary});
  }));
  return out;
}

Result<void> SensitivityMeter::run(std::shared_ptr<const Model> model, const Visit& visit) const {
  TANDEM_TRY(auto engine, Engine::create(std::move(model), {.context = options_.window,
                                                            .n_threads = options_.n_threads,
                                                            .prefill_chunk = kRows,
                                                            .max_sequences = 1,
                                                            .max_outputs = kRows}));
  TANDEM_TRY(auto session, Session::create(std::move(engine)));
  size_t first = 0;
  for (const std::vector<TokenId>& window : windows_) {
    session->truncate(0);
    TANDEM_TRY(session->append_visiting_logits(
        window, [&](size_t i, std::span<const float> logits) -> Result<void> {
          visit(first + i, logits);
          return {};
        }));
    first += window.size();
  }
  return {};
}

Result<EncodedTensor> SensitivityMeter::encode(const Replacement& replaced) {
  const auto index = source_.find(replaced.name);
  if (!index) {
    return failure(ErrorCode::kNotFound, "{}: tensor '{}' is missing", source_.metadata().source(),
                   replaced.name);
  }
  std::shared_ptr<const InputStatistics> statistics;
  if (options_.calibrator != nullptr && replaced.format.takes_importance()) {
    if (options_.nested.feedback) {
      TANDEM_TRY(statistics, options_.calibrator->with_moments(replaced.name));
    } else {
      statistics = options_.calibrator->statistics(replaced.name);
    }
  }
  return encoder_.encode(source_, *index, replaced.format, statistics.get(), options_.nested);
}

Result<double> SensitivityMeter::weight_error(const Replacement& replaced) {
  TANDEM_TRY(const EncodedTensor encoded, encode(replaced));
  return encoded.errors.weights > 0 ? encoded.errors.both / encoded.errors.weights : 0.0;
}

Result<double> SensitivityMeter::measure(std::span<const Replacement> replaced) {
  ModelFile file = model_->file();
  for (const Replacement& r : replaced) {
    TANDEM_TRY(const EncodedTensor encoded, encode(r));
    TANDEM_TRY(const auto high, in_memory_file(r.name, encoded.high));
    const auto found = std::ranges::find(file.tensors, r.name, &TensorView::name);
    if (found == file.tensors.end()) {
      return failure(ErrorCode::kNotFound, "tensor '{}' is missing", r.name);
    }
    found->type = r.format.type;
    found->bytes = high->bytes();
    found->file = static_cast<uint32_t>(file.files.size());
    file.files.push_back(high);
    if (!r.format.nested) continue;
    auto nested = std::make_shared<NestedTensor>();
    nested->name = r.name;
    nested->columns = found->dims[0];
    nested->rows = found->n_elements() / nested->columns;
    TANDEM_TRY(nested->low_file, in_memory_file(r.name, encoded.low));
    nested->high = high->bytes();
    nested->low = nested->low_file->bytes();
    nested->shift = encoded.shift;
    nested->checksum = encoded.checksum;
    found->nested = std::move(nested);
  }
  TANDEM_TRY(auto changed, Model::from_file(std::move(file)));
  const size_t n_vocabulary = changed->hyperparameters().vocabulary;
  double total = 0;
  std::vector<float> row(n_vocabulary);
  TANDEM_TRY(run(std::move(changed), [&](size_t position, std::span<const float> logits) {
    std::copy(logits.begin(), logits.end(), row.begin());
    normalise(row);
    total += divergence({&reference_[position * n_vocabulary], n_vocabulary}, row);
  }));
  return total / (static_cast<double>(reference_.size()) / static_cast<double>(n_vocabulary));
}

}  // namespace tandem
