// The table of published figures: reading it, and how close the simulator is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "published/fit.h"
#include "published/model_sizes.h"

namespace tandem::published {
namespace {

using testing::HasSubstr;

constexpr char kHeader[] =
    "soc,variant,unit,model,params_b,weight_bits,act_type,prompt_tokens,prefill_tok_s,ttft_ms,"
    "decode_tok_s,prefill_w,decode_w,prefill_mj_tok,decode_mj_tok,power_scope,judged,source\n";

std::vector<Row> rows() {
  auto parsed = parse_rows(builtin_rows(), "published_npu_llm.csv");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *parsed;
}

TEST(PublishedRows, ReadTheirColumns) {
  const auto parsed = parse_rows(
      std::string(kHeader) + "a,b,npu,M,1,4,int16,,,,50,,,,200,rails,speed+energy,\"x, y\"\n", "t");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Row& row = parsed->at(0);
  EXPECT_EQ(row.prompt_tokens, 1024);
  EXPECT_EQ(row.decode_tok_s, 50);
  EXPECT_DOUBLE_EQ(*row.decode_j_tok, 0.2);
  EXPECT_TRUE(row.rails_only && row.judge_speed && row.judge_energy);
  EXPECT_EQ(row.source, "x, y");
}

TEST(PublishedRows, ErrorsNameLineColumnAndValue) {
  EXPECT_EQ(parse_rows(std::string(kHeader) + "a,b,npu,M,1,4,int16,,,,fast,,,,,,no,s\n", "t.csv")
                .error()
                .message,
            "t.csv: line 2: decode_tok_s: \"fast\" is not a number above 0 and at most 1000000000");
  EXPECT_THAT(parse_rows(std::string(kHeader) + "a,b\n", "t.csv").error().message,
              HasSubstr("line 2: 2 cells; the header has 18"));
  EXPECT_EQ(parse_rows("", "t.csv").error().message, "t.csv: has no header");
}

TEST(Published, EveryJudgedFigureIsPredicted) {
  const auto calibration = load_calibration(rows());
  ASSERT_TRUE(calibration) << calibration.error().message;
  size_t judged = 0;
  for (const Row& row : calibration->rows) {
    if (row.judge_speed) judged += row.prefill_tok_s.has_value() + row.decode_tok_s.has_value();
    if (row.judge_energy) judged += row.prefill_j_tok.has_value() + row.decode_j_tok.has_value();
  }
  const Summary summary = summarize(check(*calibration).comparisons);
  EXPECT_EQ(summary.speed_count + summary.energy_count, judged);
  EXPECT_GE(summary.speed_count, 18u);
}

TEST(Published, RowsThatCannotBeSimulatedSayWhy) {
  auto calibration = load_calibration(rows());
  ASSERT_TRUE(calibration) << calibration.error().message;
  calibration->rows.resize(3);
  calibration->rows[0].soc = "abacus";
  calibration->rows[1].unit = "gpu+npu";
  calibration->rows[2].model = "HAL-9000B";
  calibration->rows[2].n_weights.reset();
  const Check result = check(*calibration);
  EXPECT_TRUE(result.comparisons.empty());
  ASSERT_EQ(result.skipped.size(), 3u);
  EXPECT_EQ(result.skipped[0].why, "no profile is named \"abacus\"");
  EXPECT_EQ(result.skipped[1].why, "unit \"gpu+npu\" is not simulated alone");
  EXPECT_THAT(result.skipped[2].why, HasSubstr("\"HAL-9000B\""));
}

TEST(Published, ModelsAreKnownByWhateverSpelling) {
  for (const char* name : {"Llama-3.2-1B-Instruct", "llama3.2:1b", "LLaMA 3.2 1B"}) {
    const auto sizes = find_sizes(name);
    ASSERT_TRUE(sizes) << name;
    EXPECT_EQ(sizes->ffn_width, 8192u) << name;
  }
  EXPECT_EQ(find_sizes("gemma3-1b-it")->window, 512u);
  EXPECT_FALSE(find_sizes("llama-3.2-2b"));
}

TEST(Published, AnUnknownModelIsTakenForAKnownOneOfItsSizeAndSaysSo) {
  const soc::ModelSizes sizes = guess_sizes(3.4e9);
  EXPECT_GT(sizes.n_layers, 20u);
  auto calibration = load_calibration(rows());
  ASSERT_TRUE(calibration) << calibration.error().message;
  calibration->rows.resize(1);
  const auto known = check(*calibration).comparisons;
  calibration->rows[0].model = "HAL-1B";
  const auto guessed = check(*calibration).comparisons;
  ASSERT_EQ(guessed.size(), known.size());
  for (size_t i = 0; i < guessed.size(); ++i) {
    EXPECT_TRUE(guessed[i].guessed_sizes && !known[i].guessed_sizes);
    EXPECT_NEAR(guessed[i].simulated / known[i].simulated, 1, 0.25) << guessed[i].quantity;
  }
}

// With a known truth the fit finds it again, and what it has not seen is predicted.
TEST(Published, FitRecoversParametersItMadeTheRowsWith) {
  auto calibration = load_calibration(rows());
  ASSERT_TRUE(calibration) << calibration.error().message;
  const Family& family = *family_of("ryzen-ai-5-340");
  std::erase_if(calibration->rows, [](const Row& r) { return r.soc != "ryzen-ai-5-340"; });
  for (const Comparison& c : check(*calibration).comparisons) {
    if (!c.energy) calibration->rows[c.row].decode_tok_s = c.simulated;
  }
  for (auto& profile : calibration->profiles) {
    if (profile.name == "ryzen-ai-5-340") profile.npus[0].launch_s *= 2;
  }
  EXPECT_GT(summarize(check(*calibration).comparisons).speed_worst, 0.05);
  fit(*calibration, family);
  EXPECT_LE(summarize(check(*calibration).comparisons).speed_worst, 0.02);
}

TEST(Published, LeavingASocOutNeedsOthersOfItsFamily) {
  const auto calibration = load_calibration(rows());
  ASSERT_TRUE(calibration) << calibration.error().message;
  const auto unseen = leave_out(*calibration, LeftOut::kSoc, [](size_t) {});
  EXPECT_GE(unseen.size(), 10u);
  for (const Comparison& c : unseen) {
    const std::string& soc = calibration->rows[c.row].soc;
    EXPECT_TRUE(soc.starts_with("snapdragon-")) << soc << " has a family of one with rows";
    EXPECT_LE(std::abs(c.error()), 0.35) << soc << " " << calibration->rows[c.row].model;
  }
}

TEST(Published, ErrorsStayWithinTheirBounds) {
  const auto calibration = load_calibration(rows());
  ASSERT_TRUE(calibration) << calibration.error().message;
  const Summary summary = summarize(check(*calibration).comparisons);
  EXPECT_LE(summary.speed_median, 0.15);
  EXPECT_LE(summary.speed_worst, 0.35);
  EXPECT_LE(summary.energy_worst, 0.30);
}

}  // namespace
}  // namespace tandem::published
