// A trace of a real run, from the times at which the processor did the work of each node.

#include "cli/measured_trace.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engine/session.h"

namespace tandem::cli {
namespace {

constexpr const char* kProcess = "cpu";

/// Notes the work of a step.
class WorkClock : public NodeObserver {
 public:
  struct Work {
    const Node* first;  ///< null before all nodes
    std::string kind, names;
    double start, end;
    uint64_t bytes = 0;
  };

  void after_work(const Graph& graph, std::span<const Node* const> nodes, double start,
                  double end) override {
    if (nodes.empty()) {
      work_.push_back({nullptr, "preparation", "rotations", start, end});
      return;
    }
    // A node that comes twice is a linear, and its first work was to code the input.
    if (!work_.empty() && work_.back().first == nodes[0]) work_.back().kind = "input_coding";
    Work& work = work_.emplace_back(nodes[0], to_string(nodes[0]->op), "", start, end);
    for (const Node* node : nodes) {
      work.names += (work.names.empty() ? "" : ", ") + node->name;
      if (const auto* linear = std::get_if<LinearAttributes>(&node->attributes)) {
        work.bytes += graph.weights[linear->weight].bytes.size();
      }
    }
  }

  std::vector<Work> take() { return std::exchange(work_, {}); }

 private:
  std::vector<Work> work_;
};

/// Draws one step after another.
class Drawing {
 public:
  explicit Drawing(WorkClock& clock) : clock_(clock), started_(monotonic_seconds()) {}

  void begin() { step_start_ = monotonic_seconds(); }

  void end(const std::string& what) {
    const double now = monotonic_seconds();
    draw("steps", what, step_start_, now, 0, "");
    const auto all = clock_.take();
    for (const auto& work : all) {
      draw(work.kind, work.names, work.start, work.end, work.bytes, what);
    }
    for (size_t i = 0; i < all.size();) {
      const int layer = layer_of(all[i]);
      const double start = all[i].start;
      while (i < all.size() && layer_of(all[i]) == layer) ++i;
      if (layer < 0) continue;
      draw("layers", fmt::format("layer {}", layer), start, all[i - 1].end, 0, what);
    }
    step_start_ = now;
  }

  Trace take(double prompt_end) {
    out_.seconds = step_start_ - started_;
    out_.prompt_seconds = prompt_end - started_;
    return std::move(out_);
  }

 private:
  static int layer_of(const WorkClock::Work& work) {
    return work.first == nullptr ? -1 : work.first->layer;
  }

  void draw(const std::string& lane, const std::string& name, double start, double end,
            uint64_t bytes, const std::string& detail) {
    out_.spans.push_back({kProcess, lane, name, start - started_, end - started_, bytes, detail});
  }

  WorkClock& clock_;
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
  WorkClock clock;
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
