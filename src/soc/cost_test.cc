// Properties of the simulated machine: order, conservation, bounds, monotony.

#include "soc/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "soc/event_clock.h"
#include "soc/model_work.h"
#include "soc/profile_reader.h"
#include "soc/sram_allocator.h"
#include "soc/thermal.h"

namespace tandem::soc {
namespace {

SocProfile phone() {
  auto soc = find_profile("snapdragon-8-gen-3");
  EXPECT_TRUE(soc) << soc.error().message;
  return *soc;
}

constexpr ModelSizes kSmallModel{.n_layers = 3,
                                 .width = 1024,
                                 .n_heads = 8,
                                 .n_kv_heads = 2,
                                 .head_size = 128,
                                 .ffn_width = 2816,
                                 .vocabulary = 32000,
                                 .qk_norm = true};

std::vector<Work> small_model(uint64_t n_tokens, uint64_t context) {
  return model_work(kSmallModel, {.activations = NumericType::kInt16},
                    {.n_tokens = n_tokens, .context = context});
}

TEST(EventClock, LanesKeepOrderAndWaitForOthers) {
  EventClock clock(true);
  const auto load = clock.issue({.lane = Lane::kDmaIn, .work = 0, .seconds = 2}, {});
  const EventClock::CommandId waits[] = {load, EventClock::kNone};
  const auto product = clock.issue({.lane = Lane::kArray, .work = 0, .seconds = 1}, waits);
  const auto next =
      clock.issue({.lane = Lane::kDmaIn, .work = 1, .seconds = 2, .latency_s = 3}, {});
  EXPECT_DOUBLE_EQ(clock.ready(load), 2);
  EXPECT_DOUBLE_EQ(clock.ready(product), 3);
  EXPECT_DOUBLE_EQ(clock.ready(next), 7);  // behind the first load, and its latency
  EXPECT_DOUBLE_EQ(clock.busy(Lane::kDmaIn), 4);
  EXPECT_DOUBLE_EQ(clock.now(), 7);
  const std::vector<Span> spans = clock.take_spans();
  ASSERT_EQ(spans.size(), 3u);
  for (size_t i = 1; i < spans.size(); ++i) EXPECT_GE(spans[i].start_s, spans[i - 1].start_s);
}

TEST(SramAllocator, BuffersNeverOverlapAndHolesJoin) {
  constexpr uint64_t kBytes = 64 << 10;
  SramAllocator sram(kBytes);
  std::mt19937 random(3);
  std::map<uint64_t, uint64_t> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 2 == 0) {
      const uint64_t bytes = random() % (8 << 10);
      const auto offset = sram.allocate(bytes);
      if (!offset) {
        EXPECT_LT(sram.largest_hole(), bytes);
        continue;
      }
      EXPECT_EQ(*offset % SramAllocator::kAlignment, 0u);
      EXPECT_LE(*offset + bytes, kBytes);
      const auto after = live.lower_bound(*offset);
      EXPECT_TRUE(after == live.end() || *offset + bytes <= after->first);
      if (after != live.begin()) {
        EXPECT_LE(std::prev(after)->first + std::prev(after)->second, *offset);
      }
      live[*offset] = bytes;
    } else {
      const auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      sram.release(victim->first);
      live.erase(victim);
    }
  }
  for (const auto& [offset, bytes] : live) sram.release(offset);
  EXPECT_EQ(sram.used(), 0u);
  EXPECT_EQ(sram.largest_hole(), kBytes);
  EXPECT_FALSE(sram.allocate(kBytes + 1));
}

uint64_t operand_bytes(const std::vector<Work>& list) {
  uint64_t out = list.front().input_bytes;
  for (const Work& work : list) out += work.state_bytes + (work.resident ? 0 : work.weight_bytes);
  return out;
}

TEST(NpuCost, MovesEachOperandOnceWhenActivationsFit) {
  const SocProfile soc = phone();
  for (const uint64_t tokens : {1, 4, 128}) {
    const std::vector<Work> list = small_model(tokens, 640);
    const SegmentCost cost = npu_cost(soc, soc.npus[0], list, {});
    EXPECT_EQ(cost.read_bytes, operand_bytes(list)) << tokens;
    uint64_t written = list.back().output_bytes;
    uint64_t macs = 0;
    for (const Work& work : list) {
      written += work.written_bytes;
      macs += macs_of(work);
    }
    EXPECT_EQ(cost.written_bytes, written);
    EXPECT_EQ(cost.macs, macs);
  }
}

TEST(NpuCost, ResidentWeightsAreNotRead) {
  const SocProfile soc = phone();
  std::vector<Work> list = small_model(1, 64);
  const SegmentCost before = npu_cost(soc, soc.npus[0], list, {});
  const uint64_t kept = plan_residency(soc.npus[0], list);
  EXPECT_GT(kept, 0u);
  EXPECT_LE(kept, soc.npus[0].sram_bytes / 2);
  const SegmentCost after = npu_cost(soc, soc.npus[0], list, {});
  EXPECT_EQ(after.read_bytes + kept, before.read_bytes);
  EXPECT_LT(after.seconds, before.seconds);
}

TEST(NpuCost, ASmallSramMovesMore) {
  const SocProfile soc = phone();
  NpuProfile npu = soc.npus[0];
  const std::vector<Work> list = small_model(512, 512);
  const SegmentCost large = npu_cost(soc, npu, list, {});
  npu.sram_bytes = 512 << 10;
  const SegmentCost small = npu_cost(soc, npu, list, {});
  EXPECT_GT(small.read_bytes, large.read_bytes);
  EXPECT_EQ(small.macs, large.macs);
}

TEST(NpuCost, TimeAndEnergyStayAboveTheirBounds) {
  const SocProfile soc = phone();
  const NpuProfile& npu = soc.npus[0];
  const double peak_macs = double(npu.array.rows) * npu.array.columns * npu.array.count *
                           npu.array.clock_hz / 2;  // two passes for 16-bit activations
  for (const uint64_t tokens : {1, 32, 128, 512}) {
    const std::vector<Work> list = small_model(tokens, 1024);
    const SegmentCost cost = npu_cost(soc, npu, list, {});
    EXPECT_GE(cost.seconds, cost.launch_s + double(cost.read_bytes) / npu.dma.max_bytes_per_s);
    if (tokens > npu.vector.max_matmul_rows) {
      EXPECT_GE(cost.seconds, double(cost.macs) / peak_macs);
    }
    const double bytes = double(cost.read_bytes + cost.written_bytes);
    EXPECT_DOUBLE_EQ(cost.energy.dram, bytes * soc.dram.joules_per_byte);
    EXPECT_GE(cost.energy.compute,
              double(cost.macs) * *find(npu.joules_per_mac, NumericType::kInt16));
    EXPECT_GE(cost.energy.sram, bytes * npu.joules_per_sram_byte);
    EXPECT_DOUBLE_EQ(cost.energy.board, cost.seconds * soc.board_watts);
    EXPECT_LT(cost.energy.rails(), cost.energy.device());
  }
}

TEST(NpuCost, MoreOfAnythingIsNeverSlower) {
  const SocProfile soc = phone();
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    const std::vector<Work> list = small_model(1 + random() % 300, 300 + random() % 2000);
    NpuProfile npu = soc.npus[0];
    npu.dma.max_bytes_per_s = 1e9 * (5 + random() % 40);
    const double before = npu_cost(soc, npu, list, {}).seconds;
    NpuProfile better = npu;
    better.dma.max_bytes_per_s *= 1.3;
    EXPECT_LE(npu_cost(soc, better, list, {}).seconds, before);
    better = npu;
    better.array.clock_hz *= 1.5;
    EXPECT_LE(npu_cost(soc, better, list, {}).seconds, before);
    better = npu;
    better.vector.lanes *= 2;
    EXPECT_LE(npu_cost(soc, better, list, {}).seconds, before);
    better = npu;
    better.launch_s /= 2;
    EXPECT_LE(npu_cost(soc, better, list, {}).seconds, before);
    EXPECT_GE(npu_cost(soc, npu, list, {.other_bytes_per_s = 40e9}).seconds, before);
    EXPECT_GE(npu_cost(soc, npu, list, {.clock_scale = 0.5}).seconds, before);
  }
}

TEST(NpuCost, ASegmentCostsAtMostItsNodesAlone) {
  const SocProfile soc = phone();
  const std::vector<Work> list = small_model(128, 256);
  double alone = 0;
  for (const Work& work : list) {
    alone += npu_cost(soc, soc.npus[0], {&work, 1}, {.launches = 0}).seconds;
  }
  const SegmentCost together = npu_cost(soc, soc.npus[0], list, {});
  EXPECT_LE(together.seconds, alone + together.launch_s);
}

TEST(NpuCost, SpansOfALaneDoNotOverlap) {
  const SocProfile soc = phone();
  const std::vector<Work> list = small_model(128, 256);
  const SegmentCost cost = npu_cost(soc, soc.npus[0], list, {.with_spans = true});
  ASSERT_FALSE(cost.spans.empty());
  double end[kLanes] = {};
  uint64_t read = 0;
  for (const Span& span : cost.spans) {
    double& lane_end = end[static_cast<size_t>(span.lane)];
    EXPECT_GE(span.start_s, lane_end - 1e-15);
    EXPECT_GE(span.end_s, span.start_s);
    EXPECT_LE(span.work, list.size());
    lane_end = span.end_s;
    if (span.lane == Lane::kDmaIn) read += span.bytes;
  }
  EXPECT_EQ(read, cost.read_bytes);
}

TEST(NpuCost, NearMemoryUnitsTakeNothingFromTheBus) {
  SocProfile soc = phone();
  soc.npus[0].dma.near_memory = true;
  const std::vector<Work> list = small_model(1, 64);
  EXPECT_DOUBLE_EQ(npu_cost(soc, soc.npus[0], list, {.other_bytes_per_s = 60e9}).seconds,
                   npu_cost(soc, soc.npus[0], list, {}).seconds);
}

TEST(CpuCost, TakesTheLongerOfBytesAndArithmetic) {
  const SocProfile soc = phone();
  const std::vector<Work> decode = small_model(1, 64);
  const SegmentCost cost = cpu_cost(soc, decode, {});
  EXPECT_GE(cost.seconds, double(cost.read_bytes) / soc.cpu.max_bytes_per_s);
  EXPECT_GT(cpu_cost(soc, decode, {.other_bytes_per_s = 50e9}).seconds, cost.seconds);
  const std::vector<Work> prefill = small_model(512, 512);
  EXPECT_GT(cpu_cost(soc, prefill, {}).seconds, 2 * cost.seconds);
  EXPECT_GT(cpu_cost(soc, prefill, {.clock_scale = 0.5}).seconds,
            cpu_cost(soc, prefill, {}).seconds);
}

TEST(ShareBandwidth, IsFairAndWastesNothing) {
  const DramProfile dram{.usable_bytes_per_s = 60};
  const double small_and_large[] = {10, 100};
  EXPECT_EQ(share_bandwidth(dram, small_and_large), (std::vector<double>{10, 50}));
  const double both_large[] = {45, 51};
  EXPECT_EQ(share_bandwidth(dram, both_large), (std::vector<double>{30, 30}));
  const double both_small[] = {20, 25};
  EXPECT_EQ(share_bandwidth(dram, both_small), (std::vector<double>{20, 25}));
}

TEST(Thermal, HeatsThrottlesAndCools) {
  const ThermalProfile profile{.ambient_c = 25,
                               .resistance_c_per_w = 10,
                               .capacity_j_per_c = 50,
                               .throttle_c = 65,
                               .throttled_scale = 0.6};
  ThermalModel model(profile);
  model.advance(5, 500);  // one time constant: 63.2 % of 50 degrees
  EXPECT_NEAR(model.temperature_c(), 25 + 50 * (1 - std::exp(-1.0)), 1e-9);
  EXPECT_EQ(model.clock_scale(), 1);
  model.advance(5, 5000);
  EXPECT_EQ(model.clock_scale(), 0.6);
  model.advance(0, 60);
  EXPECT_LT(model.temperature_c(), 75);
  EXPECT_EQ(model.clock_scale(), 0.6);
  model.advance(0, 5000);
  EXPECT_EQ(model.clock_scale(), 1);
}

}  // namespace
}  // namespace tandem::soc
