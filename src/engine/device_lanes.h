#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device_thread.h"
#include "planner/schedule.h"

namespace tandem {

/// A thread for each device: where execute() runs tasks in real time.
class DeviceLanes : public TaskBackend {
 public:
  explicit DeviceLanes(size_t n_devices);
  ~DeviceLanes() override;

  /// What the tasks of the next execute() are. `run` is called on the device's thread; `ended`, if
  /// set, on the caller's, for each task that went well.
  void set_tasks(std::span<const Task> tasks, std::function<Result<void>(uint32_t)> run,
                 std::function<void(uint32_t)> ended);

  void start(uint32_t task) override;
  Ended wait_any() override;

 private:
  std::span<const Task> tasks_;
  std::function<Result<void>(uint32_t)> run_;
  std::function<void(uint32_t)> when_ended_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Ended> ended_;
  std::vector<std::unique_ptr<DeviceThread>> threads_;  ///< last: end before the queue goes
};

}  // namespace tandem
