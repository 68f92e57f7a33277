// A plan as one self-contained HTML page: tables, and a map with a row for each layer and a cell
// for each node, coloured by device.

#include <algorithm>
#include <map>

#include "planner/report.h"

namespace tandem {
namespace {

/// Colours that stay apart for colour-blind readers (Okabe and Ito), the host's first.
constexpr const char* kColours[] = {"#b0b7c3", "#0072b2", "#e69f00", "#009e73", "#cc79a7"};

constexpr const char* kStyle = R"(
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1c2330;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.15rem .7rem;text-align:right;border-bottom:1px solid #e3e6eb}
td:first-child,th:first-child{text-align:left}
.map{overflow-x:auto}.row{display:flex;align-items:center;gap:2px;margin-bottom:2px}
.label{width:5.5rem;flex:none;font-size:.8rem;color:#5a6372}
.cell{min-width:4rem;flex:1 1 0;height:1.7rem;font-size:.66rem;line-height:1.05;display:flex;align-items:center;justify-content:center;text-align:center;border-radius:3px;overflow:hidden}
.reason{max-width:44rem}td.reason,th.reason{text-align:left}
.key span{display:inline-block;padding:.1rem .6rem;border-radius:3px;margin-right:.5rem}
.mark{background:#fff3cd;padding:.4rem .8rem;border-radius:4px;display:inline-block}
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string colour_of(const PlanReport& r, size_t device) {
  if (r.plan.devices[device].host) return kColours[0];
  return kColours[1 + device % (std::size(kColours) - 1)];
}

/// Of a cell: two colours where two devices share the node's rows.
std::string background_of(const PlanReport& r, const PlanReport::NodeName& node) {
  if (!node.shared_with) return colour_of(r, node.device);
  return fmt::format("linear-gradient(90deg,{0} 50%,{1} 50%)", colour_of(r, node.device),
                     colour_of(r, *node.shared_with));
}

const char* text_colour(const PlanReport& r, size_t device) {
  return r.plan.devices[device].host ? "#1c2330" : "#fff";
}

std::string legend(const PlanReport& r) {
  std::string out = "<p class=\"key\">";
  for (size_t d = 0; d < r.plan.devices.size(); ++d) {
    out += fmt::format("<span style=\"background:{};color:{}\">{}</span>{} ", colour_of(r, d),
                       text_colour(r, d), escaped(r.plan.devices[d].name),
                       escaped(r.plan.devices[d].description));
  }
  return out + "</p>\n";
}

/// What a cell tells when pointed at.
std::string tooltip(const PhaseDelegation& phase, const PlanReport::NodeName& node) {
  std::string out = fmt::format("{} ({})", node.name, to_string(node.op));
  if (node.shared_with) out += "\ntwo devices share its rows";
  for (const UndelegatedNode& u : phase.undelegated) {
    if (u.name != node.name) continue;
    for (const Refusal& r : u.refusals) {
      out +=
          fmt::format("\nnot on {}: {}: {}", r.device, to_string(r.reason.code), r.reason.sentence);
    }
  }
  return out;
}

std::string layer_map(const PlanReport& r, size_t phase) {
  std::string out = "<div class=\"map\">\n";
  const auto& nodes = r.nodes[phase];
  for (size_t i = 0; i < nodes.size();) {
    const int layer = nodes[i].layer;
    out += fmt::format("<div class=\"row\"><div class=\"label\">{}</div>",
                       layer < 0 ? std::string("outside") : fmt::format("layer {}", layer));
    for (; i < nodes.size() && nodes[i].layer == layer; ++i) {
      const std::string& name = nodes[i].name;
      std::string shown = layer < 0 ? name : name.substr(name.rfind('.') + 1);
      std::ranges::replace(shown, '_', ' ');  // may break there
      out +=
          fmt::format("<div class=\"cell\" style=\"background:{};color:{}\" title=\"{}\">{}</div>",
                      background_of(r, nodes[i]), text_colour(r, nodes[i].device),
                      escaped(tooltip(r.phases[phase], nodes[i])), escaped(shown));
    }
    out += "</div>\n";
  }
  return out + "</div>\n";
}

/// Why nodes are on the host, by op and Reason; cells tell each node's own.
std::string reasons_table(const PhaseDelegation& p) {
  const std::vector<ReasonGroup> groups = p.reasons();
  if (groups.empty()) return "";
  std::string out =
      "<table><tr><th>on the host</th><th>nodes</th><th>not on</th><th class=\"reason\">reason</th>"
      "<th class=\"reason\">of the first</th></tr>\n";
  for (const ReasonGroup& g : groups) {
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"reason\">{}</td><td "
        "class=\"reason\">{}: {}</td></tr>\n",
        to_string(g.op), g.n_nodes, escaped(g.device), to_string(g.code), escaped(g.first_node),
        escaped(g.sentence));
  }
  return out + "</table>\n";
}

std::string phase_section(const PlanReport& r, size_t index) {
  const PhaseDelegation& p = r.phases[index];
  std::string out = fmt::format(
      "<h2>{}</h2>\n<p><b>{}</b>. {} crossings, {} cross, {} copied.</p>\n", p.title(),
      p.headline(), p.n_crossings, format_bytes(p.crossing_bytes), format_bytes(p.copied_bytes));
  out += layer_map(r, index);
  out += "<table><tr><th>op</th><th>delegated</th><th>nodes</th></tr>\n";
  for (const OpDelegation& op : p.ops) {
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", to_string(op.op),
                       op.n_delegated, op.n_nodes);
  }
  out += "</table>\n<table><tr><th>device</th><th>nodes</th><th>segments</th><th>time</th></tr>\n";
  for (const DeviceShare& d : p.devices) {
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(d.device),
                       d.n_nodes, d.n_segments, format_seconds(d.seconds));
  }
  return out + "</table>\n" + reasons_table(p);
}

std::string prediction_section(const PlanReport& r) {
  if (!r.has_costs) return "";
  const Prediction& p = r.prediction;
  const auto row = [](const char* name, const Estimate& e, double n) {
    return fmt::format("<tr><td>{}</td><td>{}</td><td>{:.1f}</td><td>{:.2f}</td><td>{}</td></tr>\n",
                       name, format_seconds(e.seconds), e.seconds > 0 ? n / e.seconds : 0,
                       n > 0 ? e.joules * 1e3 / n : 0, format_bytes(e.bytes));
  };
  return fmt::format(
             "<h2>Predicted for {} prompt and {} generated tokens</h2>\n<table><tr><th></th>"
             "<th>time</th><th>tokens/s</th><th>mJ/token</th><th>bytes moved</th></tr>\n",
             r.workload.prompt_tokens, r.workload.generated_tokens) +
         row("prefill", p.prefill, r.workload.prompt_tokens) +
         row("decode", p.decode, p.n_decoded) + "</table>\n";
}

std::string memory_section(const PlanReport& r) {
  std::string out = fmt::format(
      "<h2>Memory</h2>\n<table><tr><th>owner</th><th>bytes</th></tr>\n<tr><td>weights, one "
      "copy</td><td>{}</td></tr>\n<tr><td>cache of a session at {} positions</td><td>{}</td></tr>\n"
      "<tr><td>workspace</td><td>{}</td></tr>\n<tr><td>weights that stay in SRAM</td><td>{}</td>"
      "</tr>\n</table>\n",
      format_bytes(r.plan.weight_bytes), r.plan.context, format_bytes(r.plan.state_bytes),
      format_bytes(r.plan.workspace_bytes),
      format_bytes(r.plan.phase(Phase::kDecode).resident_bytes));
  for (const auto& w : r.resident) {
    out += fmt::format("<span title=\"{}\">{}</span> ", format_bytes(w.bytes), escaped(w.weight));
  }
  return out;
}

}  // namespace

std::string PlanReport::to_html() const {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>Plan of "
      "{}</title>\n"
      "<style>{}</style></head><body>\n<h1>Plan of {}</h1>\n",
      escaped(model), kStyle, escaped(model));
  if (is_simulated()) {
    out += fmt::format(
        "<p class=\"mark\">simulated: {}. Times and energies come from a model of the "
        "chip, not from a device.</p>\n",
        escaped(soc));
  }
  out += legend(*this) + prediction_section(*this);
  for (size_t i = 0; i < phases.size(); ++i) out += phase_section(*this, i);
  return out + memory_section(*this) + "</body></html>\n";
}

}  // namespace tandem
