// Prints how far right devices of other arithmetic are from the processor on a model, the figures
// behind kCheckBound: check_bound MODEL.gguf TEXT

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "engine/self_check.h"
#include "model/model.h"
#include "tests/support/test_soc.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

constexpr size_t kTokens = 256;

double normalised_error(const std::vector<float>& a, const std::vector<float>& expected) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += (double{a[i]} - expected[i]) * (double{a[i]} - expected[i]);
    norm += double{expected[i]} * expected[i];
  }
  return error / norm;
}

Result<void> print_bounds(const char* model_path, const char* text_path) {
  TANDEM_TRY(const auto model, Model::load(model_path));
  std::ifstream in(text_path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  TANDEM_TRY(auto tokens, model->tokenizer()->encode(text.substr(0, 16 * kTokens), {}));
  if (tokens.size() < kTokens) {
    return failure(ErrorCode::kInvalidArgument, "{} has {} tokens, {} are needed", text_path,
                   tokens.size(), kTokens);
  }
  tokens.resize(kTokens);
  const auto expected =
      all_logits(make_engine(model, {.context = kTokens, .n_threads = 2}), tokens, kTokens);
  fmt::print("logits of {} tokens, the whole model as one segment; normalised mean square\n",
             kTokens);
  for (auto type : {soc::NumericType::kInt16, soc::NumericType::kFp16, soc::NumericType::kBf16}) {
    EngineOptions options = on_test_soc({}, {.check_every = 0}, type);
    options.context = kTokens;
    const auto found = all_logits(make_engine(model, options), tokens, kTokens);
    std::vector<double> errors;
    for (size_t i = 0; i < found.size(); ++i) {
      errors.push_back(normalised_error(found[i], expected[i]));
    }
    std::sort(errors.begin(), errors.end());
    fmt::print("{:<6} median {:.2e}  95 % {:.2e}  worst {:.2e}  (the bound is {})\n",
               soc::to_string(type), errors[errors.size() / 2], errors[errors.size() * 95 / 100],
               errors.back(), kCheckBound);
  }
  return {};
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto outcome = tandem::testing::print_bounds(argv[1], argv[2]);
  if (!outcome) fmt::print(stderr, "{}\n", outcome.error().message);
  return outcome ? 0 : 1;
}
