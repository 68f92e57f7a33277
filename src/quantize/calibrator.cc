// Statistics of the inputs of a model's linears over a text.

#include "quantize/calibrator.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/cpu_features.h"
#include "engine/session.h"
#include "quantize/text_windows.h"

namespace tandem {
namespace {

/// Rows of logits computed together, and so of every input seen at once.
constexpr uint32_t kRows = 128;

/// "blk.0.attn_qkv.weight[0:64]" is a part of the tensor before the bracket.
std::string tensor_of(const std::string& weight) { return weight.substr(0, weight.find('[')); }

/// -ln of the probability of `next`.
double loss(std::span<const float> logits, TokenId next) {
  const float best = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (const float x : logits) total += std::exp(static_cast<double>(x) - best);
  return std::log(total) - (logits[next] - best);
}

/// moments += x^T x, upper triangle; each thread takes some rows of the result.
void add_moments(const float* x, size_t n_rows, size_t n, ThreadPool& pool,
                 std::vector<float>& moments) {
  pool.parallel_for(n, 8, [&](size_t begin, size_t end, int) {
    for (size_t i = begin; i < end; ++i) {
      float* out = &moments[i * n];
      size_t row = 0;
      // Four rows at a time, so that sums are loaded and stored a quarter as often.
      for (; row + 4 <= n_rows; row += 4) {
        const float *a = x + row * n, *b = a + n, *c = b + n, *d = c + n;
        const float fa = a[i], fb = b[i], fc = c[i], fd = d[i];
        for (size_t j = i; j < n; ++j) {
          out[j] += (fa * a[j] + fb * b[j]) + (fc * c[j] + fd * d[j]);
        }
      }
      for (; row < n_rows; ++row) {
        const float* values = x + row * n;
        for (size_t j = i; j < n; ++j) out[j] += values[i] * values[j];
      }
    }
  });
}

void mirror(std::vector<float>& moments, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) moments[i * n + j] = moments[j * n + i];
  }
}

}  // namespace

/// Collects; in the first pass plain statistics, later second moments of chosen inputs.
class Calibrator::Observer : public NodeObserver {
 public:
  explicit Observer(int n_threads) : pool_(n_threads) {}

  /// Learns which weight reads which input.
  void learn(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      if (node.op != Op::kLinear) continue;
      const WeightId weight = std::get<LinearAttributes>(node.attributes).weight;
      const Value& input = graph.values[node.inputs[0]];
      auto [found, is_new] = by_value_.emplace(input.name, inputs_.size());
      if (is_new) {
        inputs_.push_back(std::make_shared<InputStatistics>());
        inputs_.back()->value = input.name;
        inputs_.back()->sum_squares.resize(input.width);
        inputs_.back()->largest.resize(input.width);
      }
      by_weight_.emplace(tensor_of(graph.weights[weight].name), found->second);
    }
  }

  void before_linear(const Graph& graph, const Node& node, const float* x, size_t n_rows) override {
    const std::string& name = graph.values[node.inputs[0]].name;
    // The linears that share an input follow each other.
    if (name == last_value_ && x == last_x_) return;
    last_value_ = name;
    last_x_ = x;
    InputStatistics& seen = *inputs_[by_value_.at(name)];
    if (!seen.moments.empty()) {
      add_moments(x, n_rows, seen.sum_squares.size(), pool_, seen.moments);
    }
    if (collecting_) add_rows(x, n_rows, seen);
  }

  /// Before a step: inputs may lie where others lay.
  void start_step() { last_x_ = nullptr; }
  void finish_first_pass() { collecting_ = false; }

  /// Asks for moments of input `first` and those after it, while `n_bytes` last; drops all others.
  void choose_moments(size_t first, uint64_t n_bytes) {
    for (auto& input : inputs_) input->moments = {};
    for (size_t i = first; i < inputs_.size(); ++i) {
      const uint64_t n = inputs_[i]->sum_squares.size();
      if (i > first && n * n * sizeof(float) > n_bytes) return;
      n_bytes -= std::min(n_bytes, n * n * sizeof(float));
      inputs_[i]->moments.resize(n * n);
    }
  }
  void finish_moments() {
    for (auto& input : inputs_) {
      if (!input->moments.empty()) mirror(input->moments, input->sum_squares.size());
    }
  }

  std::optional<size_t> input_of(const std::string& weight) const {
    const auto found = by_weight_.find(weight);
    if (found == by_weight_.end()) return std::nullopt;
    return found->second;
  }
  const std::vector<std::shared_ptr<InputStatistics>>& inputs() const { return inputs_; }

 private:
  static void add_rows(const float* x, size_t n_rows, InputStatistics& seen) {
    const size_t n = seen.sum_squares.size();
    for (size_t row = 0; row < n_rows; ++row, x += n) {
      for (size_t i = 0; i < n; ++i) {
        seen.sum_squares[i] += static_cast<double>(x[i]) * x[i];
        seen.largest[i] = std::max(seen.largest[i], std::fabs(x[i]));
      }
      seen.minimum = std::min(seen.minimum, *std::min_element(x, x + n));
      seen.maximum = std::max(seen.maximum, *std::max_element(x, x + n));
    }
    seen.n_rows += n_rows;
  }

  ThreadPool pool_;
  std::vector<std::shared_ptr<InputStatistics>> inputs_;
  std::unordered_map<std::string, size_t> by_value_, by_weight_;
  std::string last_value_;
  const float* last_x_ = nullptr;
  bool collecting_ = true;
};

Calibrator::~Calibrator() = default;

Result<std::unique_ptr<Calibrator>> Calibrator::create(std::shared_ptr<const Model> model,
                                                       const std::string& text,
                                                       const CalibrationOptions& options) {
  std::unique_ptr<Calibrator> out(new Calibrator);
  out->model_ = model;
  out->options_ = options;
  TANDEM_TRY(out->windows_, cut_into_windows(*model, text, options.window, options.max_tokens));
  size_t longest = 0;
  for (const auto& window : out->windows_) longest = std::max(longest, window.size());
  const int n_threads = options.n_threads == 0 ? usable_processors() : options.n_threads;
  out->observer_ = std::make_unique<Observer>(n_threads);
  TANDEM_TRY(out->engine_,
             Engine::create(std::move(model), {.context = static_cast<uint32_t>(longest),
                                               .n_threads = n_threads,
                                               .prefill_chunk = kRows,
                                               .max_outputs = kRows,
                                               .observer = out->observer_.get(),
                                               .check_finite = true}));
  out->observer_->learn(out->engine_->graph(Phase::kPrefill));
  TANDEM_TRY(out->run_text());
  out->observer_->finish_first_pass();
  return out;
}

Result<void> Calibrator::run_text() {
  TANDEM_TRY(auto session, Session::create(engine_));
  const uint64_t n_total = n_tokens();
  uint64_t n_done = 0, n_predicted = 0;
  double total = 0;
  for (const std::vector<TokenId>& window : windows_) {
    session->truncate(0);
    for (size_t at = 0; at < window.size(); at += kRows) {
      observer_->start_step();
      const auto part = std::span(window).subspan(at, std::min<size_t>(kRows, window.size() - at));
      TANDEM_TRY(session->append_visiting_logits(
          part, [&](size_t i, std::span<const float> logits) -> Result<void> {
            if (at + i + 1 == window.size()) return {};
            total += loss(logits, window[at + i + 1]);
            ++n_predicted;
            return {};
          }));
    }
    n_done += window.size();
    if (options_.progress) options_.progress(n_done, n_total);
  }
  mean_loss_ = n_predicted == 0 ? 0 : total / static_cast<double>(n_predicted);
  return {};
}

std::shared_ptr<const InputStatistics> Calibrator::statistics(const std::string& weight) const {
  const auto input = observer_->input_of(weight);
  return input ? observer_->inputs()[*input] : nullptr;
}

Result<std::shared_ptr<const InputStatistics>> Calibrator::with_moments(const std::string& weight) {
  const auto input = observer_->input_of(weight);
  if (!input) return std::shared_ptr<const InputStatistics>();
  if (observer_->inputs()[*input]->moments.empty()) {
    observer_->choose_moments(*input, options_.moment_bytes);
    TANDEM_TRY(run_text());
    observer_->finish_moments();
  }
  return std::shared_ptr<const InputStatistics>(observer_->inputs()[*input]);
}

std::vector<std::shared_ptr<const InputStatistics>> Calibrator::inputs() const {
  return {observer_->inputs().begin(), observer_->inputs().end()};
}

uint64_t Calibrator::n_tokens() const {
  uint64_t n = 0;
  for (const auto& window : windows_) n += window.size();
  return n;
}

}  // namespace tandem
