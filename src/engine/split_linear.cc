#include "engine/split_linear.h"

#include "graph/row_slice.h"

namespace tandem {
namespace {

// What a share may take once the host has failed, in seconds; one that hangs takes for ever.
constexpr double kLongestShare = 1;

}  // namespace

Result<std::unique_ptr<SplitLinear>> SplitLinear::compile(const Graph& graph, const Node& linear,
                                                          const RowSplit& split, Device& home,
                                                          Device& rest,
                                                          const WorkspaceLayout& workspace) {
  std::unique_ptr<SplitLinear> out(new SplitLinear);
  const uint32_t n_rows = graph.values[*linear.output].width;
  out->writes_logits_ = *linear.output == graph.logits;
  out->output_offset_ = workspace.offsets[*linear.output];
  out->delegate_ = home.describe().host ? 1 : 0;
  out->shares_[0] = {&home, 0, slice_linear(graph, linear, 0, split.first_row)};
  out->shares_[1] = {&rest, split.first_row,
                     slice_linear(graph, linear, split.first_row, n_rows - split.first_row)};
  for (Share& share : out->shares_) {
    share.layout = {{workspace.offsets[linear.inputs[0]], 0}, workspace.size_bytes};
    TANDEM_TRY(share.executable, share.device->compile(share.graph, {0, 1}, {1, 1}, share.layout));
  }
  return out;
}

uint64_t SplitLinear::weight_bytes() const {
  return shares_[0].executable->weight_bytes() + shares_[1].executable->weight_bytes();
}

bool SplitLinear::matches_reference() const {
  return shares_[0].executable->matches_reference() && shares_[1].executable->matches_reference();
}

double SplitLinear::compile_seconds() const {
  return shares_[0].executable->compile_seconds() + shares_[1].executable->compile_seconds();
}

float* SplitLinear::output(const Bindings& bindings) const {
  if (writes_logits_) return bindings.logits;
  return reinterpret_cast<float*>(bindings.workspace + output_offset_);
}

Event SplitLinear::start(const Share& share, Bindings bindings, float* y) const {
  bindings.logits = y + share.first_row;
  return share.device->enqueue(*share.executable, bindings, {});
}

Event SplitLinear::enqueue(const Bindings& bindings) const {
  float* y = output(bindings);
  const Event delegated = start(shares_[delegate_], bindings, y);
  auto outcome = start(shares_[1 - delegate_], bindings, y).wait();
  if (outcome) return delegated;
  delegated.wait_for(kLongestShare);  // it writes to the same output
  return Event::completed(std::move(outcome));
}

}  // namespace tandem
