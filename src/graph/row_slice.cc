#include "graph/row_slice.h"

#include <fmt/format.h>

#include "base/check.h"

namespace tandem {
namespace {

Weight slice_rows(const Weight& weight, uint32_t first_row, uint32_t n_rows) {
  TANDEM_CHECK(!weight.nested && first_row + n_rows <= weight.rows);
  Weight out = weight;
  const size_t stride = row_bytes(weight.type, weight.columns);
  out.name = fmt::format("{}[{}:{}]", weight.name, first_row, first_row + n_rows);
  out.rows = n_rows;
  out.bytes = weight.bytes.subspan(first_row * stride, n_rows * stride);
  return out;
}

/// Elements of a bias.
Weight slice_elements(const Weight& weight, uint32_t first, uint32_t n) {
  Weight out = weight;
  out.name = fmt::format("{}[{}:{}]", weight.name, first, first + n);
  out.columns = n;
  out.bytes = weight.bytes.subspan(row_bytes(weight.type, first), row_bytes(weight.type, n));
  return out;
}

}  // namespace

Graph slice_linear(const Graph& graph, const Node& linear, uint32_t first_row, uint32_t n_rows) {
  const auto& a = std::get<LinearAttributes>(linear.attributes);
  Graph out{};
  out.phase = graph.phase;
  out.values = {graph.values[linear.inputs[0]], graph.values[*linear.output]};
  out.values[1].width = n_rows;
  out.logits = 1;
  out.weights.push_back(slice_rows(graph.weights[a.weight], first_row, n_rows));
  LinearAttributes attributes{0, std::nullopt};
  if (a.bias) {
    out.weights.push_back(slice_elements(graph.weights[*a.bias], first_row, n_rows));
    attributes.bias = 1;
  }
  out.nodes.push_back({Op::kLinear, linear.name, linear.layer, {0}, 1, attributes});
  return out;
}

}  // namespace tandem
