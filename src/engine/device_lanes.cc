#include "engine/device_lanes.h"

namespace tandem {

DeviceLanes::DeviceLanes(size_t n_devices) {
  for (size_t d = 0; d < n_devices; ++d) threads_.push_back(std::make_unique<DeviceThread>());
}

DeviceLanes::~DeviceLanes() = default;

void DeviceLanes::set_tasks(std::span<const Task> tasks, std::function<Result<void>(uint32_t)> run,
                            std::function<void(uint32_t)> ended) {
  tasks_ = tasks;
  run_ = std::move(run);
  when_ended_ = std::move(ended);
}

void DeviceLanes::start(uint32_t task) {
  threads_[tasks_[task].device]->run([this, task]() -> Result<void> {
    Ended ended{task, run_(task)};
    const std::lock_guard lock(mutex_);
    ended_.push_back(std::move(ended));
    wake_.notify_one();
    return {};
  });
}

DeviceLanes::Ended DeviceLanes::wait_any() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return !ended_.empty(); });
  Ended out = std::move(ended_.front());
  ended_.pop_front();
  lock.unlock();
  if (out.outcome && when_ended_) when_ended_(out.task);
  return out;
}

}  // namespace tandem
