#include "device/device_thread.h"

namespace tandem {

DeviceThread::DeviceThread() : thread_([this] { work(); }) {}

DeviceThread::~DeviceThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Event DeviceThread::run(std::function<Result<void>()> job) {
  auto completion = std::make_shared<Completion>();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(job), completion});
  }
  wake_.notify_one();
  return Event::pending(std::move(completion));
}

void DeviceThread::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    entry.completion->complete(entry.job());
  }
}

}  // namespace tandem
