// A trace in the Trace Event Format, as Perfetto and its kin open it.

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "planner/trace.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

/// Times are whole multiples of 1/1024 microseconds: exact in binary, so that a box which ends
/// where the next one starts does so for every reader, however it rounds.
constexpr double kTicksPerMicrosecond = 1024;

int64_t ticks(double seconds) { return std::llround(seconds * 1e6 * kTicksPerMicrosecond); }
double microseconds(int64_t ticks) { return static_cast<double>(ticks) / kTicksPerMicrosecond; }

/// Readers take boxes of one thread that overlap without nesting for damage and drop them. A lane
/// with several units, such as a DMA engine's channels, therefore has as many rows as boxes at
/// once.
class Rows {
 public:
  /// The first row of a lane that is free at `start`; busy until `end` from now on.
  size_t take(const std::pair<std::string, std::string>& lane, int64_t start, int64_t end) {
    std::vector<int64_t>& busy_until = lanes_[lane];
    const auto row =
        std::ranges::find_if(busy_until, [&](int64_t until) { return until <= start; });
    const auto index = static_cast<size_t>(row - busy_until.begin());
    if (row == busy_until.end()) busy_until.push_back(end);
    busy_until[index] = end;
    return index;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> lanes_;
};

class ChromeEvents {
 public:
  void add(const TraceSpan& s) {
    const int64_t start = ticks(s.start), end = std::max(ticks(s.end), start);
    const size_t row = rows_.take({s.process, s.lane}, start, end);
    const int pid = process(s.process);
    const int tid = thread(s.process, pid, s.lane, row);
    Json args{{"detail", s.detail}};
    if (s.bytes > 0) args["bytes"] = s.bytes;
    events_.push_back({{"ph", "X"},
                       {"name", s.name},
                       {"pid", pid},
                       {"tid", tid},
                       {"ts", microseconds(start)},
                       {"dur", microseconds(end - start)},
                       {"args", std::move(args)}});
  }

  Json take() { return std::move(events_); }

 private:
  int process(const std::string& name) {
    const auto [at, is_new] = processes_.try_emplace(name, static_cast<int>(processes_.size()) + 1);
    if (is_new) name_it("process_name", at->second, 0, name);
    return at->second;
  }

  int thread(const std::string& process, int pid, const std::string& lane, size_t row) {
    const std::string name = row == 0 ? lane : fmt::format("{} {}", lane, row + 1);
    const auto [at, is_new] =
        threads_.try_emplace({process, name}, static_cast<int>(threads_.size()) + 1);
    if (is_new) name_it("thread_name", pid, at->second, name);
    return at->second;
  }

  void name_it(const char* what, int pid, int tid, const std::string& name) {
    Json event{{"ph", "M"}, {"name", what}, {"pid", pid}};
    if (tid != 0) event["tid"] = tid;
    event["args"] = {{"name", name}};
    events_.push_back(std::move(event));
  }

  Rows rows_;
  std::map<std::string, int> processes_;
  std::map<std::pair<std::string, std::string>, int> threads_;
  Json events_ = Json::array();
};

}  // namespace

std::string Trace::to_chrome_json() const {
  std::vector<size_t> by_start(spans.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::ranges::stable_sort(by_start, {}, [&](size_t i) { return spans[i].start; });
  ChromeEvents events;
  for (const size_t i : by_start) events.add(spans[i]);
  const Json document{{"displayTimeUnit", "ms"},
                      {"otherData",
                       {{"schema", "tandem.trace.v1"},
                        {"model", model},
                        {"clock", soc.empty() ? "measured" : "simulated: " + soc}}},
                      {"traceEvents", events.take()}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tandem
