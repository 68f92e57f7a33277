// Error feedback must lower the error of outputs on inputs that are correlated, which is what it is
// for.

#include "quantize/error_feedback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "quantize/nested_fit.h"
#include "tensor/convert.h"
#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

constexpr size_t kColumns = 96, kRows = 24, kInputs = 400;

/// Inputs of low rank plus noise, some channels much larger: like activations.
std::vector<float> correlated_inputs() {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::vector<float> mixing(12 * kColumns), out(kInputs * kColumns);
  for (float& x : mixing) x = normal(random);
  for (size_t i = 0; i < kInputs; ++i) {
    float hidden[12];
    for (float& x : hidden) x = normal(random);
    for (size_t j = 0; j < kColumns; ++j) {
      float sum = 0.3f * normal(random);
      for (int h = 0; h < 12; ++h) sum += hidden[h] * mixing[h * kColumns + j];
      out[i * kColumns + j] = j % 40 == 3 ? 8 * sum : sum;
    }
  }
  return out;
}

std::vector<float> moments_of(const std::vector<float>& x) {
  std::vector<float> out(kColumns * kColumns);
  for (size_t row = 0; row < kInputs; ++row) {
    for (size_t i = 0; i < kColumns; ++i) {
      for (size_t j = 0; j < kColumns; ++j) {
        out[i * kColumns + j] += x[row * kColumns + i] * x[row * kColumns + j];
      }
    }
  }
  return out;
}

struct Planes {
  std::vector<std::byte> high = std::vector<std::byte>(kRows * kColumns / 32 * 18);
  std::vector<std::byte> low = std::vector<std::byte>(kRows * kColumns / 2);
};

struct OutputErrors {
  double high = 0, both = 0;
};

/// Summed squared errors of W x over all inputs.
OutputErrors output_errors(const std::vector<float>& w, const Planes& planes, uint32_t shift,
                           const std::vector<float>& x) {
  OutputErrors out;
  for (size_t row = 0; row < kRows; ++row) {
    std::vector<float> high(kColumns), both(kColumns);
    const std::byte* h = planes.high.data() + row * kColumns / 32 * 18;
    decode_row(DType::kQ4_0, h, high.data(), kColumns);
    decode_nested_row(h, planes.low.data() + row * kColumns / 2, kColumns, shift, both.data());
    for (size_t i = 0; i < kInputs; ++i) {
      double e4 = 0, e8 = 0;
      for (size_t j = 0; j < kColumns; ++j) {
        const double value = x[i * kColumns + j], exact = w[row * kColumns + j];
        e4 += (exact - high[j]) * value;
        e8 += (exact - both[j]) * value;
      }
      out.high += e4 * e4;
      out.both += e8 * e8;
    }
  }
  return out;
}

std::vector<float> weights() {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.0f, 0.05f);
  std::vector<float> out(kRows * kColumns);
  for (float& w : out) w = normal(random);
  return out;
}

TEST(ErrorFeedback, LowersTheErrorOfOutputs) {
  const std::vector<float> x = correlated_inputs(), w = weights();
  ThreadPool pool(2);
  const auto feedback = ErrorFeedback::create(moments_of(x), kColumns, pool);
  ASSERT_TRUE(feedback) << feedback.error().message;
  Planes with, without;
  feedback->encode_rows(w.data(), kRows, with.high.data(), with.low.data());
  for (size_t row = 0; row < kRows; ++row) {
    encode_nested_row(&w[row * kColumns], nullptr, kColumns, 3,
                      without.high.data() + row * kColumns / 32 * 18,
                      without.low.data() + row * kColumns / 2);
  }
  const OutputErrors a = output_errors(w, with, 3, x), b = output_errors(w, without, 3, x);
  EXPECT_LT(a.high, 0.4 * b.high);
  EXPECT_LT(a.both, 0.4 * b.both);
}

/// Summed squared errors of W x of rows of a plain format.
double plain_output_error(const std::vector<float>& w, DType type,
                          const std::vector<std::byte>& bytes, const std::vector<float>& x) {
  double sum = 0;
  for (size_t row = 0; row < kRows; ++row) {
    std::vector<float> back(kColumns);
    decode_row(type, bytes.data() + row * row_bytes(type, kColumns), back.data(), kColumns);
    for (size_t i = 0; i < kInputs; ++i) {
      double error = 0;
      for (size_t j = 0; j < kColumns; ++j) {
        error += (double{w[row * kColumns + j]} - back[j]) * x[i * kColumns + j];
      }
      sum += error * error;
    }
  }
  return sum;
}

TEST(ErrorFeedback, MakesGoodForWhatIsPruned) {
  const std::vector<float> x = correlated_inputs(), w = weights();
  ThreadPool pool(2);
  const auto feedback = ErrorFeedback::create(moments_of(x), kColumns, pool);
  ASSERT_TRUE(feedback) << feedback.error().message;
  std::vector<std::byte> with(kRows * row_bytes(DType::kQ4_24, kColumns)), without = with;
  feedback->encode_pruned_rows(w.data(), kRows, with.data());
  encode_row(DType::kQ4_24, w.data(), without.data(), kRows * kColumns);
  const double a = plain_output_error(w, DType::kQ4_24, with, x);
  const double b = plain_output_error(w, DType::kQ4_24, without, x);
  EXPECT_LT(a, 0.4 * b);
  std::vector<float> back(kRows * kColumns);
  decode_row(DType::kQ4_24, with.data(), back.data(), back.size());
  for (size_t i = 0; i < back.size(); i += 4) {
    EXPECT_LE(std::count_if(&back[i], &back[i] + 4, [](float v) { return v != 0.0f; }), 2);
  }
}

TEST(ErrorFeedback, UncorrelatedInputsGiveTheNearestCodes) {
  std::vector<float> moments(kColumns * kColumns);
  for (size_t i = 0; i < kColumns; ++i) moments[i * (kColumns + 1)] = 1.0f;
  const std::vector<float> w = weights();
  ThreadPool pool(1);
  const auto feedback = ErrorFeedback::create(moments, kColumns, pool);
  ASSERT_TRUE(feedback);
  Planes with, without;
  feedback->encode_rows(w.data(), 1, with.high.data(), with.low.data());
  encode_nested_row(w.data(), nullptr, kColumns, 3, without.high.data(), without.low.data());
  EXPECT_EQ(with.high, without.high);
  EXPECT_EQ(with.low, without.low);
}

TEST(ErrorFeedback, RowsDoNotDependOnTheirNeighbours) {
  const std::vector<float> x = correlated_inputs(), w = weights();
  ThreadPool pool(2);
  const auto feedback = ErrorFeedback::create(moments_of(x), kColumns, pool);
  ASSERT_TRUE(feedback);
  Planes together, apart;
  feedback->encode_rows(w.data(), kRows, together.high.data(), together.low.data());
  for (size_t row = 0; row < kRows; ++row) {
    feedback->encode_rows(&w[row * kColumns], 1, apart.high.data() + row * kColumns / 32 * 18,
                          apart.low.data() + row * kColumns / 2);
  }
  EXPECT_EQ(together.high, apart.high);
  EXPECT_EQ(together.low, apart.low);
}

TEST(ErrorFeedback, InputsThatAreAllZeroAreAnError) {
  ThreadPool pool(1);
  const auto feedback =
      ErrorFeedback::create(std::vector<float>(kColumns * kColumns), kColumns, pool);
  ASSERT_FALSE(feedback);
  EXPECT_EQ(feedback.error().code, ErrorCode::kNumeric);
}

}  // namespace
}  // namespace tandem
