// What an observer is told while a step runs.

#include <gtest/gtest.h>

#include <map>

#include "engine/session.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

/// Counts how often each node was worked for, and checks that the clock goes on.
class Counter : public NodeObserver {
 public:
  void before_linear(const Graph&, const Node& node, const float*, size_t) override {
    ++announced[node.name];
  }
  void after_work(const Graph& g, std::span<const Node* const> nodes, double start,
                  double end) override {
    graph = &g;
    EXPECT_GE(start, last_end);
    EXPECT_GE(end, start);
    last_end = end;
    for (const Node* node : nodes) ++worked[node->name];
  }

  const Graph* graph = nullptr;
  double last_end = 0;
  std::map<std::string, int> announced, worked;
};

/// Linears whose work was two: coding the input, then the products.
int count_twice(const Counter& counter) {
  int out = 0;
  for (const Node& node : counter.graph->nodes) {
    const int n = counter.worked.at(node.name);
    const bool may_code = node.op == Op::kLinear;
    EXPECT_TRUE(n == 1 || (may_code && n == 2)) << node.name << ": " << n;
    EXPECT_EQ(counter.announced.count(node.name), may_code ? 1u : 0u) << node.name;
    out += n == 2;
  }
  return out;
}

TEST(NodeObserver, SeesEveryNodeAndTheCodingOfInputs) {
  const ModelShape shape = tiny_shape("qwen3");
  for (const DType type : {DType::kF32, DType::kQ4_0}) {
    Counter counter;
    const auto engine =
        make_engine(make_tiny_model(shape, type), {.context = 64, .observer = &counter});
    auto session = std::move(*Session::create(engine));
    ASSERT_TRUE(session->append(some_tokens(5)));
    ASSERT_NE(counter.graph, nullptr);
    int n_layers = 0;
    for (const Node& node : counter.graph->nodes) n_layers = std::max(n_layers, node.layer + 1);
    ASSERT_GT(n_layers, 0);
    // Queries, keys and values share an input, gate and up too; attention's output, down and the
    // head have their own.
    EXPECT_EQ(count_twice(counter), type == DType::kF32 ? 0 : 4 * n_layers + 1) << name(type);
    for (const auto& [node, times] : counter.announced) EXPECT_EQ(times, 1) << node;
  }
}

}  // namespace
}  // namespace tandem::testing
