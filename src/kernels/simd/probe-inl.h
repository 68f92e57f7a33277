#pragma once

#include "kernels/simd/math-inl.h"
#include "kernels/simd/probe.h"

namespace tandem::kernels::simd {

template <class V>
[[gnu::always_inline]] inline void probe(Operation operation, const ProbeInput& in, uint32_t* out) {
  float* floats = reinterpret_cast<float*>(out);
  const V a = V::load(in.a), b = V::load(in.b), c = V::load(in.c);
  V x = V::zero(), y = V::zero();
  switch (operation) {
    case Operation::kSet1:
      return V::set1(in.a[0]).store(floats);
    case Operation::kLoadPartial:
      return V::load_partial(in.a, in.n, in.b[0]).store(floats);
    case Operation::kLoadF16:
      return V::load_f16(in.halves).store(floats);
    case Operation::kLoadBf16:
      return V::load_bf16(in.halves).store(floats);
    case Operation::kIota:
      return V::iota().store(floats);
    case Operation::kStorePartial:
      return a.store_partial(floats, in.n);
    case Operation::kStoreF16:
      return a.store_f16(reinterpret_cast<uint16_t*>(out));
    case Operation::kNegate:
      return (-a).store(floats);
    case Operation::kAdd:
      return (a + b).store(floats);
    case Operation::kSubtract:
      return (a - b).store(floats);
    case Operation::kMultiply:
      return (a * b).store(floats);
    case Operation::kDivide:
      return (a / b).store(floats);
    case Operation::kFma:
      return V::fma(a, b, c).store(floats);
    case Operation::kMax:
      return V::max(a, b).store(floats);
    case Operation::kMin:
      return V::min(a, b).store(floats);
    case Operation::kAbs:
      return V::abs(a).store(floats);
    case Operation::kSelectLess:
      return V::select_less(a, b, c, a).store(floats);
    case Operation::kRound:
      return V::round(a).store(floats);
    case Operation::kScaleByPowerOf2:
      return V::scale_by_power_of_2(a, V::load(in.powers)).store(floats);
    case Operation::kReduceAdd:
      floats[0] = V::reduce_add(a);
      return;
    case Operation::kReduceMax:
      floats[0] = V::reduce_max(a);
      return;
    case Operation::kDeinterleave:
      V::deinterleave(a, b, x, y);
      break;
    case Operation::kInterleave:
      V::interleave(a, b, x, y);
      break;
    case Operation::kExp:
      return exp(a).store(floats);
    case Operation::kTanh:
      return tanh(a).store(floats);
  }
  x.store(floats);
  y.store(floats + 16);
}

}  // namespace tandem::kernels::simd
