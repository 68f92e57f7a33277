#include "cli/progress.h"

#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"

namespace tandem::cli {
namespace {

constexpr int kWidth = 30;
constexpr double kFirstAfterSeconds = 1.0;
constexpr double kRedrawSeconds = 0.1;

}  // namespace

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)), started_(monotonic_seconds()), terminal_(isatty(STDERR_FILENO)) {}

void ProgressBar::update(uint64_t done, uint64_t total) {
  const double now = monotonic_seconds();
  const bool due = now - started_ > kFirstAfterSeconds && now - drawn_ > kRedrawSeconds;
  if (!terminal_ || total == 0 || !due) return;
  drawn_ = now;
  visible_ = true;
  const int filled = static_cast<int>(kWidth * done / total);
  const double left = done == 0 ? 0 : (now - started_) * static_cast<double>(total - done) / done;
  note("\r{} [{:#<{}}{:.<{}}] {:3} %, {:.0f} s left ", label_, "", filled, "", kWidth - filled,
       100 * done / total, left);
}

void ProgressBar::clear() {
  if (!visible_) return;
  visible_ = false;
  write_note("\r\033[K");
}

}  // namespace tandem::cli
