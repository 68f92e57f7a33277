// Chooses a format for each tensor under a budget, losses being additive.

#include "quantize/allocation.h"

#include <cmath>
#include <limits>
#include <optional>

namespace tandem {
namespace {

/// Each tensor alone minimises loss + price * bytes.
Allocation at_price(std::span<const TensorCosts> tensors, double price) {
  Allocation out(tensors.size());
  for (size_t t = 0; t < tensors.size(); ++t) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t f = 0; f < tensors[t].size(); ++f) {
      const double cost = tensors[t][f].loss + price * static_cast<double>(tensors[t][f].n_bytes);
      const bool is_smaller = cost == best && tensors[t][f].n_bytes < tensors[t][out[t]].n_bytes;
      if (cost < best || is_smaller) {
        best = cost;
        out[t] = f;
      }
    }
  }
  return out;
}

/// Bisects the price on a logarithmic scale: `fits` holds for all high prices (small files).
template <class Fits>
double lowest_price(const Fits& fits) {
  double low = 1e-24, high = 1e3;
  if (fits(low)) return low;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

/// A change of one tensor's format.
struct Step {
  size_t tensor, format;
  double gain;  ///< loss taken away for each byte
};

/// Spends what is left of the budget on the change that helps most for its bytes, again and again.
void fill(std::span<const TensorCosts> tensors, uint64_t n_bytes, Allocation& choice) {
  while (true) {
    const uint64_t left = n_bytes - bytes_of(tensors, choice);
    std::optional<Step> best;
    for (size_t t = 0; t < tensors.size(); ++t) {
      const FormatCost& now = tensors[t][choice[t]];
      for (size_t f = 0; f < tensors[t].size(); ++f) {
        const FormatCost& other = tensors[t][f];
        if (other.loss >= now.loss || other.n_bytes > now.n_bytes + left) continue;
        const double extra =
            other.n_bytes > now.n_bytes ? static_cast<double>(other.n_bytes - now.n_bytes) : 1.0;
        const double gain = (now.loss - other.loss) / extra;
        if (!best || gain > best->gain) best = Step{t, f, gain};
      }
    }
    if (!best) return;
    choice[best->tensor] = best->format;
  }
}

/// A change of one tensor's format and what it does.
struct Change {
  size_t tensor, format;
  int64_t n_bytes;
  double loss;
};

std::vector<Change> changes_of(std::span<const TensorCosts> tensors, const Allocation& choice) {
  std::vector<Change> out;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const FormatCost& now = tensors[t][choice[t]];
    for (size_t f = 0; f < tensors[t].size(); ++f) {
      if (f == choice[t]) continue;
      const FormatCost& other = tensors[t][f];
      out.push_back({t, f, static_cast<int64_t>(other.n_bytes) - static_cast<int64_t>(now.n_bytes),
                     other.loss - now.loss});
    }
  }
  return out;
}

/// Makes one tensor smaller so that another may grow, as long as a pair of changes lowers the loss:
/// what single steps cannot find where tensors differ much in size.
void exchange(std::span<const TensorCosts> tensors, uint64_t n_bytes, Allocation& choice) {
  constexpr int kMaxExchanges = 200;
  for (int i = 0; i < kMaxExchanges; ++i) {
    const auto left = static_cast<int64_t>(n_bytes - bytes_of(tensors, choice));
    const std::vector<Change> changes = changes_of(tensors, choice);
    const Change *first = nullptr, *second = nullptr;
    double best = 0;
    for (const Change& a : changes) {
      if (a.loss >= 0) continue;
      for (const Change& b : changes) {
        if (a.tensor == b.tensor || a.n_bytes + b.n_bytes > left || a.loss + b.loss >= best)
          continue;
        best = a.loss + b.loss;
        first = &a;
        second = &b;
      }
    }
    if (first == nullptr) return;
    choice[first->tensor] = first->format;
    choice[second->tensor] = second->format;
  }
}

}  // namespace

uint64_t bytes_of(std::span<const TensorCosts> tensors, const Allocation& choice) {
  uint64_t sum = 0;
  for (size_t t = 0; t < tensors.size(); ++t) sum += tensors[t][choice[t]].n_bytes;
  return sum;
}

double loss_of(std::span<const TensorCosts> tensors, const Allocation& choice) {
  double sum = 0;
  for (size_t t = 0; t < tensors.size(); ++t) sum += tensors[t][choice[t]].loss;
  return sum;
}

Allocation allocate_within(std::span<const TensorCosts> tensors, uint64_t n_bytes) {
  const double price =
      lowest_price([&](double p) { return bytes_of(tensors, at_price(tensors, p)) <= n_bytes; });
  Allocation out = at_price(tensors, price);
  if (bytes_of(tensors, out) > n_bytes) return out;
  // Two ways to spend what is left; neither is always the better one.
  Allocation other = out;
  exchange(tensors, n_bytes, other);
  fill(tensors, n_bytes, other);
  exchange(tensors, n_bytes, other);
  fill(tensors, n_bytes, out);
  exchange(tensors, n_bytes, out);
  if (loss_of(tensors, other) < loss_of(tensors, out)) return other;
  return out;
}

Allocation allocate_below(std::span<const TensorCosts> tensors, double loss) {
  // Low prices give large files of small loss: the highest price that keeps the bound.
  double low = 1e-24, high = 1e3;
  if (loss_of(tensors, at_price(tensors, high)) <= loss) return at_price(tensors, high);
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (loss_of(tensors, at_price(tensors, middle)) <= loss ? low : high) = middle;
  }
  return at_price(tensors, low);
}

}  // namespace tandem
