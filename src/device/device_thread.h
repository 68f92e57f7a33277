#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "device/event.h"

namespace tandem {

/// A device's queue: jobs run one after another on a thread of its own. Thread safe.
class DeviceThread {
 public:
  DeviceThread();
  ~DeviceThread();  ///< Runs what was queued, then ends.
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  Event run(std::function<Result<void>()> job);

 private:
  struct Entry {
    std::function<Result<void>()> job;
    std::shared_ptr<Completion> completion;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tandem
