// The whole chain against an exact, slow reference. Expected values:
//   python3 src/engine/sampling/testdata/make_sampling_reference.py > .../sampling_reference.json

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/sampling/sampler.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

const Json& reference() {
  static const Json json = Json::parse(
      std::ifstream(TANDEM_SOURCE_DIR "/src/engine/sampling/testdata/sampling_reference.json"));
  return json;
}

SamplingOptions options_of(const Json& json) {
  SamplingOptions o;
  const auto read = [&](const char* name, auto& field) {
    if (json.contains(name)) json.at(name).get_to(field);
  };
  read("temperature", o.temperature);
  read("top_k", o.top_k);
  read("top_p", o.top_p);
  read("min_p", o.min_p);
  read("typical_p", o.typical_p);
  read("repeat_penalty", o.repeat_penalty);
  read("frequency_penalty", o.frequency_penalty);
  read("presence_penalty", o.presence_penalty);
  read("penalty_window", o.penalty_window);
  read("dry_multiplier", o.dry_multiplier);
  read("dry_base", o.dry_base);
  read("dry_allowed_length", o.dry_allowed_length);
  read("dry_window", o.dry_window);
  read("dry_breakers", o.dry_breakers);
  read("xtc_probability", o.xtc_probability);
  read("xtc_threshold", o.xtc_threshold);
  if (!json.contains("logit_bias")) return o;
  for (const auto& [id, bias] : json.at("logit_bias").items()) o.logit_bias[std::stoi(id)] = bias;
  return o;
}

class SamplingReference : public testing::TestWithParam<size_t> {};

TEST_P(SamplingReference, DistributionIsTheExactOne) {
  const Json& example = reference().at("cases").at(GetParam());
  SCOPED_TRACE(example.at("name").get<std::string>());
  const int32_t n_vocab = example.at("n_vocab");
  auto sampler = Sampler::create(options_of(example.at("options")), n_vocab, 100);
  ASSERT_TRUE(sampler) << sampler.error().message;
  const auto history = example.at("history").get<std::vector<TokenId>>();
  ASSERT_TRUE(sampler->accept_prompt(history));
  auto logits = reference().at("logits").at(std::to_string(n_vocab)).get<std::vector<float>>();

  const auto distribution = sampler->distribution(logits);
  ASSERT_TRUE(distribution) << distribution.error().message;
  std::map<TokenId, double> ours;
  for (const Candidate& c : *distribution) ours[c.id] = c.weight;
  const auto expected = example.at("probabilities").get<std::map<TokenId, double>>();
  ASSERT_EQ(ours.size(), expected.size());
  for (const auto& [id, probability] : expected) {
    ASSERT_TRUE(ours.contains(id)) << id;
    // Two exponentials and a sum of at most 120 terms, each within a unit in the last place.
    EXPECT_NEAR(ours[id], probability, 1e-13 * probability) << id;
  }
}

INSTANTIATE_TEST_SUITE_P(, SamplingReference,
                         testing::Range<size_t>(0, reference().at("cases").size()));

}  // namespace
}  // namespace tandem
