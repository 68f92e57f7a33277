// Measures what the kernels reach on this machine, with the kernels themselves.

#include "device/cpu/roofline.h"

#include <algorithm>
#include <cstring>

#include "base/buffer.h"
#include "base/clock.h"

namespace tandem {
namespace {

constexpr int kRepeats = 3;
constexpr size_t kComputeRows = 64;  // activations; enough to be bound by arithmetic
constexpr size_t kK = 1024;

/// Best of a few runs: what the machine can do when nobody is in the way.
template <class Body>
double best_seconds(const Body& body) {
  double best = 1e9;
  for (int i = 0; i < kRepeats; ++i) {
    const double started = monotonic_seconds();
    body();
    best = std::min(best, monotonic_seconds() - started);
  }
  return best;
}

/// One linear over zero weights: the kernels' time does not depend on the values.
class Linear {
 public:
  static Result<Linear> create(const KernelSet& kernels, DType type, size_t n, size_t m) {
    Linear out;
    out.kernel_ = kernels::select_linear(kernels.isa, type);
    TANDEM_TRY(out.weight_, Buffer::allocate(kernels::packed_bytes(type, n, kK), "roofline"));
    std::memset(out.weight_.data(), 0, out.weight_.size());  // pages of its own, not the zero page
    TANDEM_TRY(out.x_, Buffer::allocate(m * kK * sizeof(float), "roofline"));
    TANDEM_TRY(out.y_, Buffer::allocate(m * n * sizeof(float), "roofline"));
    out.n_ = n;
    out.m_ = m;
    out.type_ = type;
    return out;
  }

  void run(ThreadPool& pool) {
    const kernels::LinearArgs args{
        .w = {type_, n_, kK, weight_.data()},
        .x = x_.as<float>(),
        .x_stride = kK * sizeof(float),
        .xq = {x_.as<int8_t>(), x_.as<float>(m_ * kK), x_.as<int16_t>(m_ * kK * 2)},
        .bias = nullptr,
        .y = y_.as<float>(),
        .y_stride = n_ * sizeof(float),
        .m = m_,
        .n_begin = 0,
        .n_end = 0};
    const size_t grain = kernels::kTileRows * 4;
    pool.parallel_for((n_ + grain - 1) / grain, 1, [&](size_t begin, size_t end, int) {
      kernels::LinearArgs part = args;
      part.n_begin = begin * grain;
      part.n_end = std::min(end * grain, n_);
      kernel_->run(part);
    });
  }

  double macs() const { return static_cast<double>(m_) * n_ * kK; }
  double weight_bytes() const { return static_cast<double>(weight_.size()); }

 private:
  const kernels::LinearRow* kernel_ = nullptr;
  Buffer weight_, x_, y_;
  size_t n_ = 0, m_ = 0;
  DType type_ = DType::kF32;
};

Result<double> macs_per_second(const KernelSet& kernels, ThreadPool& pool, DType type) {
  TANDEM_TRY(Linear linear, Linear::create(kernels, type, 1024, kComputeRows));
  return linear.macs() / best_seconds([&] { linear.run(pool); });
}

}  // namespace

Result<Roofline> measure_roofline(const KernelSet& kernels, ThreadPool& pool) {
  Roofline out;
  TANDEM_TRY(out.integer_macs_per_second, macs_per_second(kernels, pool, DType::kQ8_0));
  TANDEM_TRY(out.float_macs_per_second, macs_per_second(kernels, pool, DType::kF32));
  // 68 MB: beyond the caches of the machines this runs on, or the cache is what a model streams.
  TANDEM_TRY(Linear stream, Linear::create(kernels, DType::kQ8_0, 65536, 1));
  out.bytes_per_second = stream.weight_bytes() / best_seconds([&] { stream.run(pool); });
  constexpr size_t kElements = 16384;
  std::vector<float> a(kElements, 0.5f), b(kElements, 0.25f);
  out.elements_per_second = pool.n_threads() * static_cast<double>(kElements) / best_seconds([&] {
                              kernels.elementwise.glu(kernels::Activation::kSilu, a.data(),
                                                      b.data(), b.data(), kElements);
                            });
  constexpr int kLoops = 200;
  out.node_seconds = best_seconds([&] {
                       for (int i = 0; i < kLoops; ++i) {
                         pool.parallel_for(pool.n_threads(), 1, [](size_t, size_t, int) {});
                       }
                     }) /
                     kLoops;
  return out;
}

double seconds_for(const Roofline& roofline, const NodeWork& work, bool integer) {
  const double rate = integer ? roofline.integer_macs_per_second : roofline.float_macs_per_second;
  const double compute = static_cast<double>(work.macs) / rate +
                         (work.macs == 0 ? work.elements / roofline.elements_per_second : 0);
  const double memory =
      static_cast<double>(work.weight_bytes + work.state_bytes) / roofline.bytes_per_second;
  return std::max(compute, memory) + roofline.node_seconds;
}

}  // namespace tandem
