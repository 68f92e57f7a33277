#include "tests/support/slow_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tensor/convert.h"
#include "tensor/f16.h"

namespace tandem::testing {
namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<float> weight_row(const Weight& w, size_t row) {
  std::vector<float> out(w.columns);
  decode_row(w.type, w.bytes.data() + row * row_bytes(w.type, w.columns), out.data(), out.size());
  return out;
}

double as_f16(double x) { return f16_to_f32(f32_to_f16(static_cast<float>(x))); }

/// Codes of a group of 32 whose largest magnitude gets the code `largest_code`.
std::vector<double> codes_of(const double* group, double largest, double largest_code) {
  std::vector<double> codes(32);
  for (size_t i = 0; i < 32; ++i) codes[i] = std::nearbyint(group[i] * largest_code / largest);
  return codes;
}

double squared_error(const double* group, const std::vector<double>& codes, double step) {
  double total = 0;
  for (size_t i = 0; i < 32; ++i) total += std::pow(group[i] - codes[i] * step, 2);
  return total;
}

/// Groups of 32 as the best codes of max / 127, max / 126 and max / 125, with the scale that fits
/// these codes best.
std::vector<double> as_int8(std::vector<double> x) {
  for (double* group = x.data(); group != x.data() + x.size(); group += 32) {
    double largest = 0;
    for (size_t i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(group[i]));
    if (largest == 0) continue;
    std::vector<double> best;
    double least_error = std::numeric_limits<double>::infinity();
    for (const double largest_code : {127.0, 126.0, 125.0}) {
      const std::vector<double> codes = codes_of(group, largest, largest_code);
      const double error = squared_error(group, codes, largest / largest_code);
      if (error >= least_error) continue;
      least_error = error;
      best = codes;
    }
    double xq = 0, qq = 0;
    for (size_t i = 0; i < 32; ++i) {
      xq += group[i] * best[i];
      qq += best[i] * best[i];
    }
    for (size_t i = 0; i < 32; ++i) group[i] = best[i] * xq / qq;
  }
  return x;
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const std::vector<TokenId>& tokens, Cache cache)
      : graph_(graph), tokens_(tokens), cache_(cache) {}

  Rows run() {
    for (const Node& node : graph_.nodes) {
      if (node.op == Op::kKvWrite) {
        const StateId state = std::get<KvWriteAttributes>(node.attributes).state;
        keys_[state] = value(node.inputs[0]);
        values_[state] = value(node.inputs[1]);
        continue;
      }
      values_by_id_[*node.output] = compute(node);
    }
    return value(graph_.logits);
  }

 private:
  const Rows& value(ValueId id) const { return values_by_id_.at(id); }

  Rows compute(const Node& node) {
    switch (node.op) {
      case Op::kEmbed:
        return embed(std::get<EmbedAttributes>(node.attributes));
      case Op::kRmsNorm:
      case Op::kQkNorm:
        return norm(value(node.inputs[0]), std::get<NormAttributes>(node.attributes));
      case Op::kLinear:
        return linear(value(node.inputs[0]), std::get<LinearAttributes>(node.attributes));
      case Op::kRope:
        return rope(value(node.inputs[0]), std::get<RopeAttributes>(node.attributes));
      case Op::kPositionScale:
        return position_scale(value(node.inputs[0]),
                              std::get<PositionScaleAttributes>(node.attributes));
      case Op::kAttention:
        return attention(value(node.inputs[0]), std::get<AttentionAttributes>(node.attributes));
      case Op::kSelectRows:
        return value(node.inputs[0]);
      default:
        return elementwise(node);
    }
  }

  Rows embed(const EmbedAttributes& a) const {
    Rows out;
    for (TokenId token : tokens_) {
      const auto row = weight_row(graph_.weights[a.table], static_cast<size_t>(token));
      out.emplace_back(row.begin(), row.end());
    }
    return out;
  }

  Rows norm(Rows x, const NormAttributes& a) const {
    std::vector<float> weight(a.group, 1.0f);
    if (a.weight) weight = weight_row(graph_.weights[*a.weight], 0);
    for (auto& row : x) {
      for (size_t first = 0; first < row.size(); first += a.group) {
        double sum = 0;
        for (size_t i = 0; i < a.group; ++i) sum += row[first + i] * row[first + i];
        const double scale = 1.0 / std::sqrt(sum / a.group + a.epsilon);
        for (size_t i = 0; i < a.group; ++i) row[first + i] *= scale * weight[i];
      }
    }
    return x;
  }

  Rows linear(Rows x, const LinearAttributes& a) const {
    const Weight& w = graph_.weights[a.weight];
    if (is_quantized(w.type)) {
      for (auto& row : x) row = as_int8(std::move(row));
    }
    std::vector<float> bias(w.rows, 0.0f);
    if (a.bias) bias = weight_row(graph_.weights[*a.bias], 0);
    Rows out(x.size(), std::vector<double>(w.rows));
    for (size_t n = 0; n < w.rows; ++n) {
      const auto row = weight_row(w, n);
      for (size_t t = 0; t < x.size(); ++t) {
        double sum = 0;
        for (size_t k = 0; k < row.size(); ++k) sum += row[k] * x[t][k];
        out[t][n] = sum + bias[n];
      }
    }
    return out;
  }

  Rows rope(Rows x, const RopeAttributes& a) const {
    const RopeTable& table = graph_.rope_tables[a.table];
    const size_t n_pairs = table.inverse_frequencies.size();
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t head = 0; head < a.n_heads; ++head) {
        double* h = x[t].data() + head * a.head_size;
        for (size_t p = 0; p < n_pairs; ++p) {
          const bool halves = a.pairs == kernels::RopePairs::kHalves;
          double& u = h[halves ? p : 2 * p];
          double& v = h[halves ? p + n_pairs : 2 * p + 1];
          const double angle = static_cast<double>(t) * table.inverse_frequencies[p];
          const double c = std::cos(angle) * table.magnitude, s = std::sin(angle) * table.magnitude;
          const double old_u = u;
          u = old_u * c - v * s;
          v = old_u * s + v * c;
        }
      }
    }
    return x;
  }

  Rows position_scale(Rows x, const PositionScaleAttributes& a) const {
    for (size_t t = 0; t < x.size(); ++t) {
      const double factor = 1 + a.coefficient * std::log(1.0 + static_cast<double>(t / a.interval));
      for (double& v : x[t]) v *= factor;
    }
    return x;
  }

  Rows attention(const Rows& q, const AttentionAttributes& a) const {
    const KvState& kv = std::get<KvState>(graph_.states[a.state]);
    Rows out(q.size(), std::vector<double>(a.n_heads * kv.value_size, 0.0));
    for (size_t t = 0; t < q.size(); ++t) {
      for (size_t head = 0; head < a.n_heads; ++head) attend_one(q[t], t, head, a, kv, out[t]);
    }
    return out;
  }

  void attend_one(const std::vector<double>& q, size_t t, size_t head, const AttentionAttributes& a,
                  const KvState& kv, std::vector<double>& out) const {
    const size_t kv_head = head / (a.n_heads / kv.n_kv_heads);
    const size_t first = kv.window == 0 || t + 1 < kv.window ? 0 : t + 1 - kv.window;
    std::vector<double> score;
    for (size_t p = first; p <= t; ++p) {
      double s = 0;
      for (size_t d = 0; d < kv.key_size; ++d) {
        s += q[head * kv.key_size + d] * cached(keys_.at(a.state)[p][kv_head * kv.key_size + d]);
      }
      s *= a.scale;
      score.push_back(a.softcap == 0 ? s : a.softcap * std::tanh(s / a.softcap));
    }
    const double best = *std::max_element(score.begin(), score.end());
    double total = 0;
    for (double& s : score) total += s = std::exp(s - best);
    for (size_t p = first; p <= t; ++p) {
      const auto& v = values_.at(a.state)[p];
      for (size_t d = 0; d < kv.value_size; ++d) {
        out[head * kv.value_size + d] +=
            score[p - first] / total * cached(v[kv_head * kv.value_size + d]);
      }
    }
  }

  Rows elementwise(const Node& node) const {
    Rows out = value(node.inputs[0]);
    for (size_t t = 0; t < out.size(); ++t) {
      for (size_t i = 0; i < out[t].size(); ++i) {
        const double b = node.inputs.size() > 1 ? value(node.inputs[1])[t][i] : 0;
        out[t][i] = combine(node, out[t][i], b);
      }
    }
    return out;
  }

  static double combine(const Node& node, double a, double b) {
    if (node.op == Op::kAdd) return a + b;
    if (const auto* s = std::get_if<ScaleAttributes>(&node.attributes)) return a * s->factor;
    if (const auto* s = std::get_if<SoftcapAttributes>(&node.attributes)) {
      return s->cap * std::tanh(a / s->cap);
    }
    switch (std::get<GluAttributes>(node.attributes).activation) {
      case kernels::Activation::kSilu:
        return a / (1 + std::exp(-a)) * b;
      case kernels::Activation::kGeluTanh:
        return 0.5 * a * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a))) * b;
      case kernels::Activation::kRelu2:
        return a > 0 ? a * a * b : 0;
    }
    return 0;
  }

  double cached(double x) const { return cache_ == Cache::kF16 ? as_f16(x) : x; }

  const Graph& graph_;
  const std::vector<TokenId>& tokens_;
  Cache cache_;
  std::map<ValueId, Rows> values_by_id_;
  std::map<StateId, Rows> keys_, values_;
};

}  // namespace

std::vector<std::vector<double>> slow_logits(const Graph& graph, const std::vector<TokenId>& tokens,
                                             Cache cache) {
  return Interpreter(graph, tokens, cache).run();
}

double normalized_mse(const std::vector<std::vector<float>>& ours,
                      const std::vector<std::vector<double>>& reference) {
  double error = 0, power = 0;
  for (size_t t = 0; t < reference.size(); ++t) {
    for (size_t i = 0; i < reference[t].size(); ++i) {
      const double d = ours[t][i] - reference[t][i];
      error += d * d;
      power += reference[t][i] * reference[t][i];
    }
  }
  return error / power;
}

}  // namespace tandem::testing
