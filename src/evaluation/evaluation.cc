// Runs a whole evaluation: a text, then task files.

#include "evaluation/evaluation.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/clock.h"

namespace tandem {
namespace {

constexpr size_t kLogitsBytes = size_t{64} << 20;

/// Bytes of text that the scored tokens stand for; control tokens stand for none.
uint64_t scored_bytes(const std::vector<Window>& windows, const Tokenizer& tokenizer) {
  uint64_t n = 0;
  for (const Window& window : windows) {
    for (const TokenId id : std::span(window.tokens).subspan(window.n_context)) {
      if (!tokenizer.is_control(id)) n += tokenizer.piece_bytes(id).size();
    }
  }
  return n;
}

std::string precision_of(const Engine& engine) {
  const auto& tensors = engine.model().file().tensors;
  const bool is_nested = std::any_of(tensors.begin(), tensors.end(),
                                     [](const TensorView& t) { return t.nested != nullptr; });
  if (!is_nested) return {};
  return engine.options().planes == WeightPlanes::kBoth ? "int8" : "int4";
}

Result<void> check_same_ids(const EvaluationText& text, const Engine& engine,
                            const Engine& reference, const TextOptions& options) {
  const std::string& source = reference.model().metadata().source();
  if (reference.vocabulary() != engine.vocabulary()) {
    return failure(ErrorCode::kInvalidArgument,
                   "{}: the reference has {} tokens, the model {}; their distributions cannot be "
                   "compared",
                   source, reference.vocabulary(), engine.vocabulary());
  }
  if (reference.model().tokenizer() == nullptr) return {};
  TANDEM_TRY(const auto other, load_text(text.name, *reference.model().tokenizer(), options));
  if (other.tokens == text.tokens && other.bos == text.bos) return {};
  return failure(ErrorCode::kInvalidArgument,
                 "{}: the reference's tokenizer reads {} otherwise than the model's", source,
                 text.name);
}

/// The parts of a text's evaluation that have to outlive it.
struct TextSources {
  std::unique_ptr<SessionSource> model, reference;
  std::optional<LogitsReader> stored;
  std::optional<LogitsWriter> save;

  TextComparison comparison() {
    return {.reference = reference.get(),
            .stored = stored ? &*stored : nullptr,
            .save = save ? &*save : nullptr};
  }
};

Result<TextSources> open_sources(const std::shared_ptr<Engine>& engine,
                                 const std::shared_ptr<Engine>& reference,
                                 const EvaluationRequest& request,
                                 const std::vector<Window>& windows) {
  TextSources out;
  TANDEM_TRY(out.model, SessionSource::create(engine));
  if (reference != nullptr) {
    TANDEM_TRY(out.reference, SessionSource::create(reference));
  }
  if (!request.logits.empty()) {
    TANDEM_TRY(out.stored, LogitsReader::open(request.logits));
  }
  if (!request.save_logits.empty()) {
    LogitsBinding binding{.model = engine->model().fingerprint(),
                          .windows = windows_hash(windows),
                          .vocabulary = engine->vocabulary()};
    for (const Window& window : windows) binding.n_rows += window.n_scored();
    TANDEM_TRY(auto writer, LogitsWriter::create(request.save_logits, binding));
    out.save.emplace(std::move(writer));
  }
  return out;
}

class Evaluation {
 public:
  Evaluation(const std::shared_ptr<Engine>& engine, const std::shared_ptr<Engine>& reference,
             const EvaluationRequest& request, const EvaluationProgress& progress)
      : engine_(engine), reference_(reference), request_(request), progress_(progress) {
    const Model& model = engine->model();
    report_.model = model.metadata().source();
    report_.fingerprint = model.fingerprint();
    report_.isa = engine->device().describe().isa;
    report_.size = size_of(model, engine->options().planes);
    report_.precision = precision_of(*engine);
    report_.against = request.against;
    report_.bootstrap = request.bootstrap;
    report_.reference =
        reference != nullptr ? reference->model().metadata().source() : request.logits;
  }

  Result<void> run_text() {
    const Tokenizer* tokenizer = engine_->model().tokenizer();
    if (tokenizer == nullptr) {
      return tandem::failure(ErrorCode::kUnsupported,
                             "{}: the model has no tokenizer to read a text with", report_.model);
    }
    TANDEM_TRY(const auto text, load_text(request_.text, *tokenizer, request_.text_options));
    if (reference_ != nullptr) {
      TANDEM_TRY(check_same_ids(text, *engine_, *reference_, request_.text_options));
    }
    auto windows = make_windows(text.tokens, text.bos, request_.windows);
    if (!windows) return tl::unexpected(windows.error().within(text.name));
    TANDEM_TRY(auto sources, open_sources(engine_, reference_, request_, *windows));
    const double started = monotonic_seconds();
    auto scores = score_windows(*windows, *sources.model, sources.comparison(), scoring());
    TextReport out{.path = text.name,
                   .definition = describe(request_.windows, text.bos.has_value()),
                   .windows = request_.windows,
                   .n_tokens = text.tokens.size(),
                   .n_documents = text.n_documents,
                   .n_windows = windows->size(),
                   .seconds = monotonic_seconds() - started};
    if (!scores) return give_up(std::move(out), scores.error().within(text.name));
    scores->n_bytes = scored_bytes(*windows, *tokenizer);
    out.figures = summarize(*scores, request_.bootstrap);
    report_.text = std::move(out);
    return sources.save ? sources.save->commit() : Result<void>();
  }

  Result<void> run_all_tasks() {
    std::optional<StoredResults> other;
    if (!request_.against.empty()) {
      TANDEM_TRY(other, StoredResults::load(request_.against));
    }
    // Every file is read before any is answered: a bad one is to be found at once.
    std::vector<TaskSet> sets;
    std::vector<std::vector<bool>> others;
    for (const auto& task : request_.tasks) {
      TANDEM_TRY(sets.emplace_back(), load_task_set(task.path, task.limit));
      others.emplace_back();
      if (other) {
        TANDEM_TRY(others.back(), other->of(sets.back()));
      }
    }
    const double started = monotonic_seconds();
    std::string items;
    for (size_t i = 0; i < sets.size() && !report_.failure; ++i) {
      TANDEM_TRY(run_set(sets[i], others[i], items));
    }
    report_.task_seconds = monotonic_seconds() - started;
    return request_.save_items.empty() || report_.failure ? Result<void>() : save(items);
  }

  EvaluationReport take() { return std::move(report_); }
  bool failed() const { return report_.failure.has_value(); }

 private:
  ScoringOptions scoring() const {
    ScoringOptions out{.vocabulary = engine_->vocabulary(),
                       .max_rows = engine_->options().max_outputs,
                       .n_threads = engine_->device().describe().n_threads};
    if (reference_ != nullptr) {
      out.max_rows = std::min(out.max_rows, reference_->options().max_outputs);
    }
    if (progress_) {
      out.progress = [this](uint64_t done, uint64_t n) { progress_(request_.text, done, n); };
    }
    return out;
  }

  Result<void> run_set(const TaskSet& set, const std::vector<bool>& other, std::string& items) {
    TaskOptions options = request_.task_options;
    if (progress_) {
      options.progress = [&](size_t done, size_t n) { progress_(set.path, done, n); };
    }
    const auto answers = run_tasks(set, engine_, options);
    if (!answers) {
      if (answers.error().code != ErrorCode::kNumeric) return tl::unexpected(answers.error());
      report_.failure = answers.error();
      return {};
    }
    report_.tasks.push_back(summarize(set, *answers, other));
    items += to_stored_lines(set, *answers);
    return {};
  }

  Result<void> save(const std::string& items) const {
    TANDEM_TRY(AtomicFile file, AtomicFile::create(request_.save_items));
    TANDEM_TRY(file.write(items));
    return file.commit();
  }

  Result<void> give_up(TextReport out, const Error& error) {
    if (error.code != ErrorCode::kNumeric) return tl::unexpected(error);
    out.reason = error.message;
    report_.text = std::move(out);
    report_.failure = error;
    return {};
  }

  const std::shared_ptr<Engine>& engine_;
  const std::shared_ptr<Engine>& reference_;
  const EvaluationRequest& request_;
  const EvaluationProgress& progress_;
  EvaluationReport report_;
};

}  // namespace

ModelSize size_of(const Model& model, WeightPlanes planes) {
  ModelSize out;
  for (const TensorView& tensor : model.file().tensors) {
    out.n_weights += tensor.n_elements();
    out.tensor_bytes += tensor.bytes.size();
    const bool has_low_plane = tensor.nested != nullptr && planes == WeightPlanes::kBoth;
    if (has_low_plane) out.tensor_bytes += tensor.nested->low.size();
  }
  for (const auto& file : model.file().files) out.file_bytes += file->bytes().size();
  return out;
}

uint32_t wanted_outputs(const Model& model) {
  const size_t row_bytes = model.hyperparameters().vocabulary * sizeof(float);
  return static_cast<uint32_t>(std::clamp<size_t>(kLogitsBytes / row_bytes, 16, 256));
}

Result<EvaluationReport> evaluate(const std::shared_ptr<Engine>& engine,
                                  const std::shared_ptr<Engine>& reference,
                                  const EvaluationRequest& request,
                                  const EvaluationProgress& progress) {
  Evaluation evaluation(engine, reference, request, progress);
  if (!request.text.empty()) {
    TANDEM_TRY(evaluation.run_text());
  }
  if (!request.tasks.empty() && !evaluation.failed()) {
    TANDEM_TRY(evaluation.run_all_tasks());
  }
  return evaluation.take();
}

}  // namespace tandem
