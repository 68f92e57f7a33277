#include "graph/node_work.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tandem {
namespace {

const std::byte kBytes[64 * 32]{};

Graph attention_graph(Phase phase, uint32_t window) {
  GraphBuilder build(phase);
  const StateId state = build.add_state(KvState{2, 16, 8, window});
  const auto weight = [&](const char* name, uint32_t rows, uint32_t columns) {
    return build.add_weight({name, DType::kQ8_0, rows, columns,
                             std::span(kBytes).first(row_bytes(DType::kQ8_0, columns) * rows),
                             nullptr});
  };
  const ValueId x = build.embed(weight("table", 20, 64));
  const ValueId k = build.linear("k", x, weight("k", 32, 64));
  const ValueId v = build.linear("v", x, weight("v", 16, 64));
  build.kv_write(k, v, state);
  const ValueId y =
      build.attention(x, {.state = state, .n_heads = 4, .scale = 1.0f, .softcap = 0.0f});
  return build.finish(build.linear("head", build.select_rows(y), weight("head", 20, 32)));
}

/// The definition, row by row.
uint64_t slow_attention_macs(uint64_t n_tokens, uint64_t context, uint64_t window) {
  uint64_t macs = 0;
  for (uint64_t r = 0; r < n_tokens; ++r) {
    const uint64_t position = context - n_tokens + r;
    const uint64_t oldest = window == 0 || position + 1 < window ? 0 : position + 1 - window;
    macs += (position + 1 - oldest) * 4 * (16 + 8);
  }
  return macs;
}

TEST(NodeWork, AttentionCountsThePositionsThatEachRowSees) {
  for (uint32_t window : {0, 1, 5, 8, 100}) {
    const Graph graph = attention_graph(Phase::kPrefill, window);
    for (const auto& [n, context] : {std::pair{1, 1}, {1, 30}, {7, 7}, {7, 12}, {16, 40}}) {
      EXPECT_EQ(count_work(graph, graph.nodes[4], n, context).macs,
                slow_attention_macs(n, context, window))
          << window << " " << n << " " << context;
    }
  }
}

TEST(NodeWork, CountsWeightsCacheAndRows) {
  const Graph graph = attention_graph(Phase::kPrefill, 0);
  const NodeWork embed = count_work(graph, graph.nodes[0], 3, 10);
  EXPECT_EQ(embed.weight_bytes, 3u * 68);  // two blocks of 34 bytes a row
  const NodeWork k = count_work(graph, graph.nodes[1], 3, 10);
  EXPECT_EQ(k.macs, 3u * 32 * 64);
  EXPECT_EQ(k.weight_bytes, 32u * 68);
  EXPECT_EQ(k.activation_bytes, 3u * (64 + 32) * 4);
  const NodeWork write = count_work(graph, graph.nodes[3], 3, 10);
  EXPECT_EQ(write.state_bytes, 3u * 2 * (16 + 8) * 2);
  EXPECT_EQ(count_work(graph, graph.nodes[4], 3, 10).state_bytes, 10u * 2 * (16 + 8) * 2);
}

TEST(NodeWork, APrefillComputesOneOutputTheOtherPhasesOneForEachToken) {
  const Graph prefill = attention_graph(Phase::kPrefill, 0);
  EXPECT_EQ(count_work(prefill, prefill.nodes.back(), 8, 8).macs, 20u * 32);
  const Graph decode = attention_graph(Phase::kDecode, 0);
  EXPECT_EQ(count_work(decode, decode.nodes.back(), 8, 8).macs, 8u * 20 * 32);
}

}  // namespace
}  // namespace tandem
