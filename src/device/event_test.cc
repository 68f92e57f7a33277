#include "device/event.h"

#include <gtest/gtest.h>

#include <thread>

namespace tandem {
namespace {

Error error_of(const char* message) { return {ErrorCode::kDevice, message}; }

TEST(Event, ThatHasCompletedGivesItsOutcomeAtOnce) {
  const Event good = Event::completed({});
  EXPECT_TRUE(good.done());
  EXPECT_TRUE(good.wait());
  const Event bad = Event::completed(tl::unexpected(error_of("lost")));
  ASSERT_FALSE(bad.wait());
  EXPECT_EQ(bad.wait().error().message, "lost");
  EXPECT_TRUE(bad.wait_for(0).has_value());
}

TEST(Event, ThatIsPendingEndsWhenItsDeviceSaysSo) {
  const auto completion = std::make_shared<Completion>();
  const Event event = Event::pending(completion);
  const Event copy = event;
  EXPECT_FALSE(event.done());
  EXPECT_FALSE(event.wait_for(0).has_value());
  std::thread device([&] { completion->complete({}); });
  EXPECT_TRUE(copy.wait());
  device.join();
  EXPECT_TRUE(event.done());
  EXPECT_TRUE(event.wait_for(0)->has_value());
}

TEST(Completion, KeepsTheFirstOutcome) {
  Completion completion;
  completion.complete(tl::unexpected(error_of("deadline")));
  completion.complete({});
  EXPECT_EQ(completion.wait().error().message, "deadline");
  completion.reset();
  EXPECT_FALSE(completion.done());
}

}  // namespace
}  // namespace tandem
