#pragma once

#include <cstdint>
#include <string>

namespace tandem::cli {

/// A bar on standard error for work that takes over a second; silent when that is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(uint64_t done, uint64_t total);
  /// Takes the bar off the screen; update draws it again.
  void clear();

 private:
  std::string label_;
  double started_;
  double drawn_ = 0;
  bool terminal_;
  bool visible_ = false;
};

}  // namespace tandem::cli
