#pragma once

namespace tandem::kernels {

/// e^x within 1.1 units in the last place, subnormal results included; 0 below -103.97, infinity
/// above 88.72, NaN for NaN. Cody-Waite reduction x = n ln 2 + r with |r| <= ln 2 / 2, then the
/// Taylor-like minimax polynomial of degree 6 that Cephes' expf uses.
template <class V>
[[gnu::always_inline]] inline V exp(V x) {
  const V clamped = V::min(V::set1(89.0f), V::max(V::set1(-104.0f), x));
  const V n = V::round(clamped * V::set1(1.44269504088896341f));
  V r = V::fma(n, V::set1(-0.693359375f), clamped);
  r = V::fma(n, V::set1(2.12194440e-4f), r);
  V p = V::set1(1.9875691500e-4f);
  p = V::fma(p, r, V::set1(1.3981999507e-3f));
  p = V::fma(p, r, V::set1(8.3334519073e-3f));
  p = V::fma(p, r, V::set1(4.1665795894e-2f));
  p = V::fma(p, r, V::set1(1.6666665459e-1f));
  p = V::fma(p, r, V::set1(5.0000001201e-1f));
  p = V::fma(p, r * r, r) + V::set1(1.0f);
  return V::scale_by_power_of_2(p, n);
}

/// tanh(x) within 1.5 units in the last place, odd but for the sign of zero, 1 from |x| = 9.02 on,
/// NaN for NaN. By an odd polynomial (Cephes) where |x| < 0.625, above by e^2|x|: with the sign set
/// aside 1 - 2 / (e^2|x| + 1) does not cancel.
template <class V>
[[gnu::always_inline]] inline V tanh(V x) {
  const V magnitude = V::min(V::set1(9.02f), V::abs(x));
  const V e = exp(magnitude + magnitude);
  const V by_exp = V::set1(1.0f) - V::set1(2.0f) / (e + V::set1(1.0f));
  const V s = magnitude * magnitude;
  V p = V::set1(-5.70498872745e-3f);
  p = V::fma(p, s, V::set1(2.06390887954e-2f));
  p = V::fma(p, s, V::set1(-5.37397155531e-2f));
  p = V::fma(p, s, V::set1(1.33314422036e-1f));
  p = V::fma(p, s, V::set1(-3.33332819422e-1f));
  const V by_polynomial = V::fma(p * s, magnitude, magnitude);
  const V t = V::select_less(magnitude, V::set1(0.625f), by_polynomial, by_exp);
  return V::select_less(x, V::zero(), -t, t);
}

}  // namespace tandem::kernels
