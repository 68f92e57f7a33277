// Every architecture against a slow double-precision interpretation of its graph, also at shapes
// that llama.cpp refuses (keys and values of different sizes).

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/slow_reference.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

constexpr size_t kTokens = 40;

class AgainstReference : public ::testing::TestWithParam<std::string> {};

TEST_P(AgainstReference, LogitsAgree) {
  const auto model = make_tiny_model(tiny_shape(GetParam()));
  const auto engine = make_engine(model);
  const auto tokens = some_tokens(kTokens);
  const auto reference = slow_logits(engine->graph(Phase::kPrefill), tokens);
  // Float rounding over three layers: measured 1e-12 to 1e-10; a wrong wiring gives 1e-3 or more.
  EXPECT_LT(normalized_mse(all_logits(engine, tokens, kTokens), reference), 1e-8);
}

TEST_P(AgainstReference, QuantizedWeightsAgree) {
  const auto model = make_tiny_model(tiny_shape(GetParam()), DType::kQ8_0);
  const auto engine = make_engine(model);
  // Without an activation within float rounding of a half the two agree to 1e-14. One such code
  // falling to the other side changes all that follows, so a few short texts are tried: an accident
  // spoils one of them, an error all.
  double best = 1;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const auto tokens = some_tokens(20, seed);
    const auto reference = slow_logits(engine->graph(Phase::kPrefill), tokens);
    best = std::min(best, normalized_mse(all_logits(engine, tokens, 20), reference));
  }
  EXPECT_LT(best, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AgainstReference, ::testing::ValuesIn(tiny_shape_names()),
                         [](const auto& info) {
                           std::string out = info.param;
                           std::replace(out.begin(), out.end(), '-', '_');
                           return out;
                         });

// A10: a query sees itself and the window - 1 positions before it, so older tokens do not matter
// to a model whose only layer slides.
TEST(FieldReport, A10_TokensOlderThanTheWindowDoNotMatter) {
  ModelShape shape = tiny_shape("gemma3");
  shape.n_layers = 1;
  shape.window = 6;
  const auto engine = make_engine(make_tiny_model(shape));
  std::vector<TokenId> a = some_tokens(10, 1), b = a;
  for (size_t i = 0; i < 4; ++i) b[i] = (a[i] + 100) % 512;
  const auto by_one = all_logits(engine, a, 1);
  EXPECT_EQ(all_logits(engine, a, 10), by_one);
  const auto other = all_logits(engine, b, 10);
  EXPECT_EQ(other[9], by_one[9]) << "position 9 sees positions 4 to 9 only";
  EXPECT_NE(other[8], by_one[8]) << "position 8 sees position 3, which differs";
}

// A11: key_length and value_length win over width / heads.
TEST(FieldReport, A11_HeadSizesComeFromTheFile) {
  ModelShape shape = tiny_shape("llama");
  shape.width = 48;
  shape.key_size = 16;
  for (uint32_t value_size : {16u, 8u}) {
    shape.value_size = value_size;
    const auto engine = make_engine(make_tiny_model(shape));
    const auto tokens = some_tokens(kTokens);
    const auto reference = slow_logits(engine->graph(Phase::kPrefill), tokens);
    EXPECT_LT(normalized_mse(all_logits(engine, tokens, kTokens), reference), 1e-8);
  }
}

}  // namespace
}  // namespace tandem::testing
