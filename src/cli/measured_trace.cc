// A trace of a real run, from the moments at which linears begin.

#include "cli/measured_trace.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engine/session.h"

namespace tandem::cli {
namespace {

constexpr const char* kProcess = "cpu";

/// Notes when the linears of a step begin.
class LinearClock : public LinearObserver {
 public:
  struct Mark {
    std::string names;
    int layer;
    double start;
    uint64_t bytes;
    const float* input;
  };

  void observe(const Graph& graph, const Node& node, const float* x, size_t) override {
    const Weight& weight = graph.weights[std::get<LinearAttributes>(node.attributes).weight];
    const uint64_t bytes = weight.bytes.size();
    const bool shares_input =
        !marks_.empty() && marks_.back().input == x && marks_.back().layer == node.layer;
    if (!shares_input) {
      marks_.push_back({node.name, node.layer, monotonic_seconds(), bytes, x});
      return;
    }
    marks_.back().names += ", " + node.name;
    marks_.back().bytes += bytes;
  }

  std::vector<Mark> take() { return std::exchange(marks_, {}); }

 private:
  std::vector<Mark> marks_;
};

std::string layer_name(int layer) {
  return layer < 0 ? "behind the layers" : fmt::format("layer {}", layer);
}

/// Draws one step after another.
class Drawing {
 public:
  explicit Drawing(LinearClock& clock) : clock_(clock), started_(monotonic_seconds()) {}

  void begin() { step_start_ = monotonic_seconds(); }

  void end(const std::string& what) {
    const double now = monotonic_seconds();
    draw("steps", what, step_start_, now, 0, "");
    const auto marks = clock_.take();
    for (size_t i = 0; i < marks.size(); ++i) {
      const double until = i + 1 < marks.size() ? marks[i + 1].start : now;
      draw("linears", marks[i].names, marks[i].start, until, marks[i].bytes, what);
    }
    for (size_t i = 0; i < marks.size();) {
      size_t next = i;
      while (next < marks.size() && marks[next].layer == marks[i].layer) ++next;
      const double until = next < marks.size() ? marks[next].start : now;
      draw("layers", layer_name(marks[i].layer), marks[i].start, until, 0, what);
      i = next;
    }
    step_start_ = now;
  }

  Trace take(double prompt_end) {
    out_.seconds = step_start_ - started_;
    out_.prompt_seconds = prompt_end - started_;
    return std::move(out_);
  }

 private:
  void draw(const char* lane, const std::string& name, double start, double end, uint64_t bytes,
            const std::string& detail) {
    out_.spans.push_back({kProcess, lane, name, start - started_, end - started_, bytes, detail});
  }

  LinearClock& clock_;
  Trace out_;
  double started_;
  double step_start_ = 0;
};

std::vector<TokenId> random_tokens(uint32_t n, uint32_t vocabulary) {
  std::vector<TokenId> out;
  uint64_t state = 1;
  for (uint32_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    out.push_back(static_cast<TokenId>((state >> 33) % vocabulary));
  }
  return out;
}

}  // namespace

Result<Trace> measure_trace(const ModelFlags& flags, const Workload& workload) {
  TANDEM_TRY(EngineOptions options, engine_options(flags));
  LinearClock clock;
  options.observer = &clock;
  options.context = std::max(options.context, workload.prompt_tokens + workload.generated_tokens);
  TANDEM_TRY(auto model, open_model(flags));
  TANDEM_TRY(const auto engine, Engine::create(std::move(model), options));
  TANDEM_TRY(const auto session, Session::create(engine));
  const auto tokens =
      random_tokens(workload.prompt_tokens + workload.generated_tokens, engine->vocabulary());
  const auto prompt = std::span(tokens).first(workload.prompt_tokens);
  Drawing drawing(clock);
  drawing.begin();
  size_t n_chunks = 0;
  TANDEM_TRY(session->append(
      prompt, [&](size_t, size_t) { drawing.end(fmt::format("prompt chunk {}", n_chunks++)); }));
  const double prompt_end = monotonic_seconds();
  for (uint32_t i = 0; i < workload.generated_tokens; ++i) {
    TANDEM_TRY(session->append(std::span(tokens).subspan(workload.prompt_tokens + i, 1)));
    drawing.end(fmt::format("token {}", i));
  }
  Trace out = drawing.take(prompt_end);
  out.model = engine->model().metadata().string_or("general.name", "unnamed").value_or("?");
  return out;
}

}  // namespace tandem::cli
