// The stable JSON form of a plan.

#include <nlohmann/json.hpp>

#include "planner/plan.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

Json estimate_json(const Estimate& e) {
  return {{"seconds", e.seconds}, {"joules", e.joules}, {"bytes", e.bytes}, {"macs", e.macs}};
}

Json phase_json(const PhasePlan& p) {
  Json segments = Json::array();
  for (const Segment& s : p.segments) {
    segments.push_back({{"device", s.device},
                        {"first_node", s.nodes.first},
                        {"n_nodes", s.nodes.count},
                        {"predicted", estimate_json(s.estimate)}});
    if (!s.split) continue;
    segments.back()["split"] = {{"device", s.split->device}, {"first_row", s.split->first_row}};
  }
  Json refusals = Json::array();
  for (const Refusal& r : p.refusals) {
    refusals.push_back({{"node", r.node},
                        {"device", r.device},
                        {"reason", to_string(r.reason.code)},
                        {"sentence", r.reason.sentence}});
  }
  return {{"phase", to_string(p.phase)},
          {"max_tokens", p.shape.max_tokens},
          {"max_outputs", p.shape.max_outputs},
          {"padded", p.is_padded},
          {"context", p.context},
          {"workspace_bytes", p.workspace.size_bytes},
          {"crossings", p.n_crossings()},
          {"crossing_bytes", p.crossing_bytes},
          {"copied_bytes", p.copied_bytes},
          {"resident_weights", p.resident},
          {"resident_bytes", p.resident_bytes},
          {"predicted", estimate_json(p.predicted)},
          {"segments", std::move(segments)},
          {"not_delegated", std::move(refusals)}};
}

}  // namespace

std::string Plan::to_json() const {
  Json out{{"schema", "tandem.plan.v1"},
           {"context", context},
           {"objective", to_string(options.objective)},
           {"weight_bytes", weight_bytes},
           {"state_bytes", state_bytes},
           {"workspace_bytes", workspace_bytes},
           {"devices", Json::array()},
           {"buckets", Json::array()},
           {"phases", Json::array()}};
  for (const Capabilities& d : devices) {
    out["devices"].push_back({{"name", d.name},
                              {"description", d.description},
                              {"driver", d.driver},
                              {"host", d.host},
                              {"simulated", d.simulated},
                              {"shares_memory", d.shares_memory}});
  }
  for (const Bucket& b : chunking.buckets()) out["buckets"].push_back(b.n_tokens);
  for (const PhasePlan& p : phases) out["phases"].push_back(phase_json(p));
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tandem
