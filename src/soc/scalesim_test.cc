// The simulator, run from profiles that describe SCALE-Sim's array, against the golden reports of
// SCALE-Sim's own tests (tests/data/scalesim).

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "soc/cost.h"
#include "soc/profile_reader.h"
#include "soc/systolic_array.h"

namespace tandem::soc {
namespace {

struct Golden {
  const char* report;
  const char* profile;
  Product product;
};

/// The one row of numbers of a report.
std::vector<double> read_row(const std::string& name) {
  std::ifstream file(std::string(TANDEM_SOURCE_DIR) + "/tests/data/scalesim/" + name);
  std::string line;
  std::getline(file, line);
  std::getline(file, line);
  std::vector<double> out;
  std::istringstream cells(line);
  for (std::string cell; std::getline(cells, cell, ',');) {
    if (!cell.empty() && cell != " ") out.push_back(std::stod(cell));
  }
  return out;
}

struct Expected {
  uint64_t cycles;  ///< total minus stall
  double input_reads, filter_reads, output_writes;
};

Expected read_golden(const std::string& report) {
  const auto compute = read_row(report + ".COMPUTE_REPORT.csv");
  const auto access = read_row(report + ".DETAILED_ACCESS_REPORT.csv");
  return {static_cast<uint64_t>(compute.at(2) - compute.at(3)), access.at(3), access.at(6),
          access.at(9)};
}

SegmentCost simulate(const Golden& golden, uint64_t nonzero_k = 0) {
  const auto profile =
      load_profile(std::string(TANDEM_SOURCE_DIR) + "/tests/data/soc/" + golden.profile + ".json");
  EXPECT_TRUE(profile) << profile.error().message;
  Work work;
  work.m = golden.product.m;
  work.n = golden.product.n;
  work.k = golden.product.k;
  work.nonzero_k = nonzero_k;
  work.weight_bytes = work.n * work.k;
  work.input_bytes = work.m * work.k;
  work.output_bytes = work.m * work.n;
  const Work list[] = {work};
  return npu_cost(*profile, profile->npus[0], list, {});
}

class ScaleSim : public testing::TestWithParam<Golden> {};

TEST_P(ScaleSim, EqualsTheGoldenReport) {
  const Expected expected = read_golden(GetParam().report);
  const SegmentCost cost = simulate(GetParam());
  // SCALE-Sim numbers cycles from zero and reports the last one's number.
  EXPECT_EQ(cost.array_cycles - 1, expected.cycles);
  EXPECT_EQ(double(cost.input_reads), expected.input_reads);
  EXPECT_EQ(double(cost.filter_reads), expected.filter_reads);
  EXPECT_EQ(double(cost.output_writes), expected.output_writes);
  // At 1 GHz with free memory the segment takes exactly the array's cycles.
  EXPECT_NEAR(cost.seconds * 1e9, double(cost.array_cycles), 1e-3 * double(cost.array_cycles));
}

// test/general of SCALE-Sim: a product of 256 x 256 by 256 x 128, and AlexNet's first layer
// (224 x 224 x 3, 96 filters of 11 x 11, stride 4) as a product.
INSTANTIATE_TEST_SUITE_P(
    Dense, ScaleSim,
    testing::Values(
        Golden{"general_golden_trace_user_os", "scale-sim-output_stationary-32", {256, 128, 256}},
        Golden{"general_golden_trace_user_ws", "scale-sim-weight_stationary-32", {256, 128, 256}},
        Golden{"general_golden_trace_user_is", "scale-sim-input_stationary-32", {256, 128, 256}},
        Golden{"general_golden_trace_calc", "scale-sim-weight_stationary-32", {3025, 96, 363}}));

TEST(ScaleSimSparse, CyclesFilterReadsAndOutputWritesEqualTheGoldenReport) {
  const Golden golden{"sparsity_golden_trace", "scale-sim-weight_stationary-128", {3025, 96, 363}};
  const Expected expected = read_golden(golden.report);
  // Row-wise sparsity in blocks of 8 leaves 184 of 363 rows (SPARSE_REPORT: 17664 = 184 x 96
  // filter elements beside 1104 of metadata).
  const SegmentCost cost = simulate(golden, 184);
  EXPECT_EQ(cost.array_cycles - 1, expected.cycles);
  EXPECT_EQ(double(cost.filter_reads), expected.filter_reads);
  EXPECT_EQ(double(cost.output_writes), expected.output_writes);
}

TEST(ScaleSimTiling, SmallBuffersChangeNoCount) {
  auto profile = load_profile(std::string(TANDEM_SOURCE_DIR) +
                              "/tests/data/soc/scale-sim-weight_stationary-32.json");
  ASSERT_TRUE(profile) << profile.error().message;
  Work work;
  work.m = 100;
  work.n = 333;
  work.k = 777;
  work.weight_bytes = work.n * work.k;
  work.input_bytes = work.m * work.k;
  work.output_bytes = work.m * work.n;
  const Work list[] = {work};
  const SegmentCost whole = npu_cost(*profile, profile->npus[0], list, {});
  // Room for the activations and four buffers of less than a column block at once.
  profile->npus[0].sram_bytes = 256 << 10;
  const SegmentCost cut = npu_cost(*profile, profile->npus[0], list, {});
  EXPECT_EQ(cut.array_cycles, whole.array_cycles);
  EXPECT_EQ(cut.input_reads, whole.input_reads);
  EXPECT_EQ(cut.filter_reads, whole.filter_reads);
  EXPECT_EQ(cut.output_writes, whole.output_writes);
  EXPECT_EQ(cut.read_bytes, whole.read_bytes);
}

}  // namespace
}  // namespace tandem::soc
