#pragma once

#include "kernels/elementwise/elementwise.h"
#include "kernels/simd/math-inl.h"

// The elementwise functions over a sixteen-lane vector type V.

namespace tandem::kernels::elementwise {

/// y[i] = f(a[i])
template <class V, class F>
[[gnu::always_inline]] inline void map(const float* a, float* y, size_t n, const F& f) {
  size_t i = 0;
  for (; i + 16 <= n; i += 16) f(V::load(a + i)).store(y + i);
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    f(V::load_partial(a + i, rest)).store_partial(y + i, rest);
  }
}

/// y[i] = f(a[i], b[i])
template <class V, class F>
[[gnu::always_inline]] inline void map(const float* a, const float* b, float* y, size_t n,
                                       const F& f) {
  size_t i = 0;
  for (; i + 16 <= n; i += 16) f(V::load(a + i), V::load(b + i)).store(y + i);
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    f(V::load_partial(a + i, rest), V::load_partial(b + i, rest)).store_partial(y + i, rest);
  }
}

template <class V>
[[gnu::always_inline]] inline V silu(V g) {
  return g / (V::set1(1.0f) + exp(-g));
}

/// By the identity (1 + tanh(u)) / 2 = 1 / (1 + e^-2u), which keeps small results accurate where
/// 1 + tanh(u) would cancel; 2u = g (2 sqrt(2 / pi) + 2 sqrt(2 / pi) 0.044715 g^2).
template <class V>
[[gnu::always_inline]] inline V gelu_tanh(V g) {
  const V slope = V::fma(g * g, V::set1(0.0713548162726f), V::set1(1.59576912161f));
  return g / (V::set1(1.0f) + exp(-(g * slope)));
}

template <class V>
[[gnu::always_inline]] inline V relu2(V g) {
  const V positive = V::max(V::zero(), g);  // this order keeps NaN
  return positive * positive;
}

/// The row's functions. HOT: elementwise_bench.
template <class V>
struct Functions {
  static void add(const float* a, const float* b, float* y, size_t n) noexcept {
    map<V>(a, b, y, n, [](V left, V right) { return left + right; });
  }
  static void scale(const float* a, float factor, float* y, size_t n) noexcept {
    map<V>(a, y, n, [factor](V value) { return V::set1(factor) * value; });
  }
  static void softcap(const float* a, float cap, float* y, size_t n) noexcept {
    map<V>(a, y, n, [cap](V value) { return V::set1(cap) * tanh(value / V::set1(cap)); });
  }
  static void glu(Activation activation, const float* gate, const float* up, float* y,
                  size_t n) noexcept {
    switch (activation) {
      case Activation::kSilu:
        return map<V>(gate, up, y, n, [](V g, V u) { return silu(g) * u; });
      case Activation::kGeluTanh:
        return map<V>(gate, up, y, n, [](V g, V u) { return gelu_tanh(g) * u; });
      case Activation::kRelu2:
        return map<V>(gate, up, y, n, [](V g, V u) { return relu2(g) * u; });
    }
  }
  static bool all_finite(const float* a, size_t n) noexcept {
    // A finite number times zero is zero; an infinity or NaN gives NaN, which no sum loses.
    V sum = V::zero();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) sum = V::fma(V::load(a + i), V::zero(), sum);
    if (i < n) {
      sum = V::fma(V::load_partial(a + i, static_cast<int>(n - i)), V::zero(), sum);
    }
    return V::reduce_add(sum) == 0.0f;
  }
};

/// The table's row over V.
template <class V>
[[gnu::always_inline]] inline ElementwiseRow make_row(Isa isa, const char* name) {
  using F = Functions<V>;
  return {isa, name, F::add, F::scale, F::softcap, F::glu, F::all_finite};
}

}  // namespace tandem::kernels::elementwise
