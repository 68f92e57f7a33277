// Prompts whose chunks overlap over two devices: the same result as on the processor alone.

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "device/forwarding_device.h"
#include "engine/session.h"
#include "tests/support/test_soc.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPrompt = 49;  // chunks of 16, and one token
constexpr size_t kGenerated = 4;

std::shared_ptr<const Model> quantized_model() {
  static const auto model = make_tiny_model(tiny_shape("qwen3"), DType::kQ8_0);
  return model;
}

/// The NPU computes all but attention and the cache, so that every layer crosses twice.
EngineOptions attention_on_cpu(const NpuSimOptions& npu = {}, const SafetyOptions& safety = {}) {
  EngineOptions options = on_test_soc(npu, safety);
  options.plan.pins = {{"*", "npu"}, {"layers.*.kv_write", "cpu"}, {"layers.*.attention", "cpu"}};
  return options;
}

std::vector<std::vector<float>> run(const std::shared_ptr<Engine>& engine) {
  return greedy_logits(engine, some_tokens(kPrompt), kGenerated);
}

std::vector<std::vector<float>> on_cpu() { return run(make_engine(quantized_model())); }

/// When devices were at work.
struct Interval {
  std::string device;
  Clock::time_point start, end;
};

struct Record {
  std::mutex mutex;
  std::vector<Interval> intervals;
};

/// Takes a little longer, so that what may overlap does, and notes when.
class RecordingDevice : public ForwardingDevice {
 public:
  RecordingDevice(std::unique_ptr<Device> inner, Record& record)
      : ForwardingDevice(std::move(inner)), record_(record) {}

  Event enqueue(const Executable& executable, const Bindings& bindings,
                std::span<const Event> after) override {
    const auto start = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Event out = inner().enqueue(executable, bindings, after);
    const std::lock_guard lock(record_.mutex);
    record_.intervals.push_back({describe().name, start, Clock::now()});
    return out;
  }

 private:
  Record& record_;
};

/// attention_on_cpu with the first `n_recorded` devices recording: the NPU, then the processor.
EngineOptions recorded(Record& record, size_t n_recorded) {
  EngineOptions options = attention_on_cpu();
  options.devices =
      [inner = options.devices, &record,
       n_recorded](std::unique_ptr<Device> cpu) -> Result<std::vector<std::unique_ptr<Device>>> {
    TANDEM_TRY(auto devices, inner(std::move(cpu)));
    for (size_t d = 0; d < n_recorded; ++d) {
      devices[d] = std::make_unique<RecordingDevice>(std::move(devices[d]), record);
    }
    return devices;
  };
  return options;
}

TEST(Overlap, ChunksOfAPromptRunOnTwoDevicesAtOnceWithTheSameBits) {
  Record record;
  const auto engine = make_engine(quantized_model(), recorded(record, 2));
  auto session = Session::create(engine);
  ASSERT_TRUE(session);
  ASSERT_TRUE((*session)->append(some_tokens(kPrompt)));
  size_t n_overlaps = 0;
  for (const Interval& a : record.intervals) {
    for (const Interval& b : record.intervals) {
      if (a.device == b.device) continue;
      n_overlaps += a.start < b.start && b.start < a.end;
    }
  }
  EXPECT_GT(n_overlaps, 0u);
  EXPECT_EQ(run(engine), on_cpu());
}

TEST(Overlap, ADeviceRunsOneSegmentAtATime) {
  Record record;
  run(make_engine(quantized_model(), recorded(record, 1)));
  ASSERT_GT(record.intervals.size(), 10u);
  for (size_t i = 1; i < record.intervals.size(); ++i) {
    EXPECT_LE(record.intervals[i - 1].end, record.intervals[i].start);
  }
}

class OverlapFaults : public ::testing::TestWithParam<FaultKind> {};

TEST_P(OverlapFaults, ADeviceThatFailsInTheMiddleOfAPromptLosesNothing) {
  for (const uint32_t after : {0u, 3u, 9u}) {
    const auto engine = make_engine(
        quantized_model(), attention_on_cpu({.fault = Fault{GetParam(), Phase::kPrefill, after}},
                                            {.deadline_seconds = 0.2, .check_every = 1}));
    EXPECT_EQ(run(engine), on_cpu()) << "after " << after;
    ASSERT_EQ(engine->incidents().size(), 1u) << "after " << after;
    EXPECT_EQ(engine->incidents()[0].device, "npu");
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, OverlapFaults,
                         ::testing::Values(FaultKind::kHang, FaultKind::kError,
                                           FaultKind::kWrongResult, FaultKind::kLost),
                         [](const auto& info) {
                           return "kind_" + std::to_string(int(info.param));
                         });

TEST(Overlap, ProgressComesInOrderAndMayAskTheEngine) {
  const auto engine = make_engine(quantized_model(), attention_on_cpu());
  auto session = Session::create(engine);
  ASSERT_TRUE(session);
  std::vector<size_t> seen;
  ASSERT_TRUE((*session)->append(some_tokens(kPrompt), [&](size_t done, size_t total) {
    EXPECT_EQ(total, kPrompt);
    EXPECT_EQ((*session)->n_tokens(), done);
    EXPECT_GT(engine->now(), 0);
    seen.push_back(done);
  }));
  ASSERT_GE(seen.size(), 2u);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(seen.back(), kPrompt);
}

TEST(Overlap, ACancelledPromptKeepsTheChunksBeforeAndGoesOn) {
  const auto engine = make_engine(quantized_model(), attention_on_cpu());
  const auto tokens = some_tokens(kPrompt);
  auto session = Session::create(engine);
  ASSERT_TRUE(session);
  const auto stopped = (*session)->append(tokens, [&](size_t done, size_t) {
    if (done == 16) (*session)->cancel();
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  const uint32_t held = (*session)->n_tokens();
  EXPECT_GE(held, 16u);
  EXPECT_LT(held, kPrompt);
  ASSERT_TRUE((*session)->append(std::span(tokens).subspan(held)));
  const auto logits = (*session)->logits();
  EXPECT_EQ(std::vector<float>(logits.begin(), logits.end()), on_cpu().front());
}

}  // namespace
}  // namespace tandem::testing
