// The graphs of the conformance suite: one op each, inputs from embedding tables of random rows.

#include <cmath>
#include <random>

#include "graph/builder.h"
#include "tensor/convert.h"
#include "tests/conformance/conformance.h"

namespace tandem::testing {
namespace {

constexpr uint32_t kVocabulary = 64;

/// Writes graphs whose weights are random numbers of any type.
class CaseBuilder {
 public:
  explicit CaseBuilder(Phase phase) : build(phase) {}

  GraphBuilder build;

  /// `input` as calibration would have described it.
  WeightId weight(DType type, uint32_t rows, uint32_t columns,
                  std::shared_ptr<const LinearInput> input = nullptr) {
    std::normal_distribution<float> normal;
    std::vector<float> row(columns);
    std::vector<std::byte> bytes(row_bytes(type, columns) * rows);
    for (uint32_t r = 0; r < rows; ++r) {
      for (float& x : row) x = normal(random_);
      encode_row(type, row.data(), bytes.data() + r * row_bytes(type, columns), columns);
    }
    storage_.push_back(std::move(bytes));
    Weight weight{
        fmt::format("w{}", storage_.size()), type, rows, columns, storage_.back(), nullptr};
    weight.input = std::move(input);
    return build.add_weight(std::move(weight));
  }

  /// A value of random rows, another one each time.
  ValueId input(uint32_t width) { return build.embed(weight(DType::kF32, kVocabulary, width)); }

  /// The case whose tested nodes are the last `n_tested` written so far. The graph goes on with a
  /// scale, so that the tested output lies in the workspace as it does inside a model.
  OpCase finish(std::string name, ValueId output, uint32_t n_tested, std::vector<uint32_t> rows,
                std::vector<uint32_t> positions) {
    build.leave_layers();
    const ValueId logits = build.scale("end", output, 1.0f);
    OpCase out{.name = std::move(name),
               .graph = std::make_shared<Graph>(build.finish(logits)),
               .storage = std::move(storage_),
               .tested = {0, n_tested},
               .shape = {0, 0},
               .rows = std::move(rows),
               .positions = std::move(positions)};
    out.tested.first = static_cast<uint32_t>(out.graph->nodes.size()) - 1 - n_tested;
    for (uint32_t n : out.rows) out.shape.max_tokens += n;
    out.shape.max_outputs = out.shape.max_tokens;
    return out;
  }

 private:
  std::mt19937 random_{7};
  std::vector<std::vector<std::byte>> storage_;
};

constexpr uint32_t kRowCounts[] = {1, 3, 33};

void add_linear_cases(std::vector<OpCase>& out) {
  for (const DTypeInfo& type : all_dtypes()) {
    if (!holds_weights(type.type)) continue;
    for (uint32_t n_rows : kRowCounts) {
      for (bool has_bias : {false, true}) {
        CaseBuilder c(n_rows == 1 ? Phase::kDecode : Phase::kPrefill);
        const uint32_t n = has_bias ? 40 : 96;  // 40: the last tile of rows is not full
        const ValueId x = c.input(256);
        std::optional<WeightId> bias;
        if (has_bias) bias = c.weight(DType::kF32, 1, n);
        const ValueId y = c.build.linear("linear", x, c.weight(type.type, n, 256), bias);
        out.push_back(c.finish(fmt::format("linear {} [{},256]{} rows {}", type.name, n,
                                           has_bias ? " bias" : "", n_rows),
                               y, 1, {n_rows}, {0}));
      }
    }
  }
}

/// Linears with stored ranges. The inputs are normal numbers: 4.2 covers all but a few.
void add_calibrated_cases(std::vector<OpCase>& out) {
  const LinearInput narrow{"w", -4.2f, 4.0f, {}, false}, wide{"w", -4.2f, 4.0f, {}, true},
      outliers{"w", -4.2f, 4.0f, {3, 200}, false};
  const std::pair<const char*, const LinearInput*> inputs[] = {
      {"calibrated", &narrow}, {"wide", &wide}, {"outliers", &outliers}};
  for (const auto& [name, input] : inputs) {
    for (const DType type : {DType::kQ8_0, DType::kQ4_K, DType::kF16}) {
      for (uint32_t n_rows : kRowCounts) {
        CaseBuilder c(Phase::kPrefill);
        const ValueId x = c.input(256);
        const WeightId bias = c.weight(DType::kF32, 1, 40);
        const WeightId w = c.weight(type, 40, 256, std::make_shared<LinearInput>(*input));
        const ValueId y = c.build.linear("linear", x, w, bias);
        out.push_back(
            c.finish(fmt::format("linear {} {} rows {}", tandem::name(type), name, n_rows), y, 1,
                     {n_rows}, {0}));
      }
    }
  }
}

void add_embed_cases(std::vector<OpCase>& out) {
  for (const DTypeInfo& type : all_dtypes()) {
    if (!holds_weights(type.type)) continue;
    CaseBuilder c(Phase::kPrefill);
    const ValueId y = c.build.embed(c.weight(type.type, kVocabulary, 256));
    out.push_back(c.finish(fmt::format("embed {} [64,256]", type.name), y, 1, {9}, {0}));
  }
}

void add_norm_cases(std::vector<OpCase>& out) {
  for (uint32_t width : {64u, 200u}) {
    for (uint32_t n_rows : kRowCounts) {
      CaseBuilder c(Phase::kPrefill);
      const ValueId x = c.input(width);
      const ValueId y = c.build.rms_norm("norm", x, c.weight(DType::kF32, 1, width), 1e-6f);
      out.push_back(
          c.finish(fmt::format("rms_norm {} rows {}", width, n_rows), y, 1, {n_rows}, {0}));
    }
  }
  for (bool has_weight : {false, true}) {
    CaseBuilder c(Phase::kPrefill);
    const ValueId x = c.input(96);
    std::optional<WeightId> weight;
    if (has_weight) weight = c.weight(DType::kF32, 1, 24);
    const ValueId y = c.build.qk_norm("qk_norm", x, weight, 24, 1e-5f);
    out.push_back(
        c.finish(fmt::format("qk_norm 4x24{}", has_weight ? "" : " plain"), y, 1, {5}, {0}));
  }
}

void add_rope_cases(std::vector<OpCase>& out) {
  for (auto pairs : {kernels::RopePairs::kHalves, kernels::RopePairs::kAdjacent}) {
    for (uint32_t n_rotated : {16u, 12u}) {
      for (uint32_t position : {0u, 1000u}) {
        CaseBuilder c(Phase::kPrefill);
        RopeTable table;
        for (uint32_t p = 0; p < n_rotated / 2; ++p) {
          table.inverse_frequencies.push_back(std::pow(10000.0f, -2.0f * p / n_rotated));
        }
        table.magnitude = 1.25f;
        const RopeTableId id = c.build.add_rope_table(std::move(table));
        const ValueId x = c.input(48);
        const ValueId y = c.build.rope("rope", x, {id, 3, 16, pairs});
        out.push_back(c.finish(
            fmt::format("rope {} of 16 {} at {}", n_rotated,
                        pairs == kernels::RopePairs::kHalves ? "halves" : "adjacent", position),
            y, 1, {7}, {position}));
      }
    }
  }
  CaseBuilder c(Phase::kPrefill);
  const ValueId x = c.input(48);
  const ValueId y = c.build.position_scale("scale", x, {0.1f, 16});
  out.push_back(c.finish("position_scale at 30", y, 1, {7}, {30}));
}

void add_elementwise_cases(std::vector<OpCase>& out) {
  for (uint32_t n_rows : kRowCounts) {
    const auto one = [&](const char* name, auto&& op) {
      CaseBuilder c(Phase::kPrefill);
      const ValueId a = c.input(72);
      const ValueId b = c.input(72);
      out.push_back(
          c.finish(fmt::format("{} rows {}", name, n_rows), op(c.build, a, b), 1, {n_rows}, {0}));
    };
    using Build = GraphBuilder;
    one("add", [](Build& g, ValueId a, ValueId b) { return g.add("add", a, b); });
    one("add x+x", [](Build& g, ValueId a, ValueId) { return g.add("add", a, a); });
    one("scale", [](Build& g, ValueId a, ValueId) { return g.scale("scale", a, -1.5f); });
    one("softcap", [](Build& g, ValueId a, ValueId) { return g.softcap("softcap", a, 2.0f); });
    for (auto kind : {kernels::Activation::kSilu, kernels::Activation::kGeluTanh,
                      kernels::Activation::kRelu2}) {
      one("glu", [&](Build& g, ValueId a, ValueId b) { return g.glu(a, b, kind); });
    }
    one("select_rows", [](Build& g, ValueId a, ValueId) { return g.select_rows(a); });
  }
}

struct AttentionCase {
  const char* name;
  uint32_t n_heads, n_kv_heads, key_size, value_size, window;
  float softcap;
  std::vector<uint32_t> rows, positions;
};

void add_attention_cases(std::vector<OpCase>& out) {
  const AttentionCase cases[] = {
      {"one head, first token", 1, 1, 16, 16, 0, 0, {1}, {0}},
      {"grouped heads, prefill", 4, 2, 16, 16, 0, 0, {40}, {0}},
      {"grouped heads, later chunk", 4, 2, 16, 16, 0, 0, {19}, {45}},
      {"decode far in", 4, 1, 32, 32, 0, 0, {1}, {130}},
      {"window and softcap", 2, 2, 16, 16, 8, 5.0f, {21}, {13}},
      {"narrow values", 2, 1, 32, 8, 0, 0, {5}, {3}},
      {"head of 48", 2, 1, 48, 48, 0, 0, {5}, {14}},
      {"two sequences", 2, 1, 16, 16, 0, 0, {1, 1}, {20, 3}},
      {"two sequences of several rows", 2, 1, 16, 16, 0, 0, {4, 7}, {0, 18}},
  };
  for (const AttentionCase& a : cases) {
    CaseBuilder c(a.rows[0] == 1 ? Phase::kDecode : Phase::kPrefill);
    const StateId state =
        c.build.add_state(KvState{a.n_kv_heads, a.key_size, a.value_size, a.window});
    const ValueId q = c.input(a.n_heads * a.key_size);
    const ValueId k = c.input(a.n_kv_heads * a.key_size);
    const ValueId v = c.input(a.n_kv_heads * a.value_size);
    c.build.enter_layer(0);
    c.build.kv_write(k, v, state);
    const ValueId y = c.build.attention(
        q, {state, a.n_heads, 1.0f / std::sqrt(static_cast<float>(a.key_size)), a.softcap});
    out.push_back(
        c.finish(fmt::format("kv_write, attention: {}", a.name), y, 2, a.rows, a.positions));
  }
}

/// Several ops in one segment: values that live inside it only.
void add_segment_case(std::vector<OpCase>& out) {
  CaseBuilder c(Phase::kPrefill);
  const ValueId x = c.input(64);
  const ValueId h = c.build.rms_norm("norm", x, std::nullopt, 1e-6f);
  const ValueId gate = c.build.linear("gate", h, c.weight(DType::kQ4_0, 96, 64));
  const ValueId up = c.build.linear("up", h, c.weight(DType::kQ4_0, 96, 64));
  const ValueId g = c.build.glu(gate, up, kernels::Activation::kSilu);
  const ValueId down = c.build.linear("down", g, c.weight(DType::kQ8_0, 64, 96));
  const ValueId y = c.build.add("residual", x, down);
  out.push_back(c.finish("a feed-forward block as one segment", y, 6, {11}, {0}));
}

}  // namespace

std::vector<OpCase> all_op_cases() {
  std::vector<OpCase> out;
  add_embed_cases(out);
  add_linear_cases(out);
  add_calibrated_cases(out);
  add_norm_cases(out);
  add_rope_cases(out);
  add_elementwise_cases(out);
  add_attention_cases(out);
  add_segment_case(out);
  return out;
}

}  // namespace tandem::testing
