#include "base/thread_pool.h"

#include <algorithm>

namespace tandem {
namespace {

// About 20 microseconds: longer than the serial gaps inside a token, shorter than a scheduler tick.
constexpr int kSpins = 4000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int n_threads) {
  for (int t = 1; t < n_threads; ++t) workers_.emplace_back([this, t] { work(t); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    generation_.fetch_add(1);
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::run(const Loop& loop) {
  if (loop.n == 0) return;
  if (workers_.empty() || loop.n <= loop.grain) {
    for (size_t begin = 0; begin < loop.n; begin += loop.grain) {
      loop.call(loop.context, begin, std::min(begin + loop.grain, loop.n), 0);
    }
    return;
  }
  loop_ = loop;
  next_.store(0, std::memory_order_relaxed);
  n_busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1);
  if (n_asleep_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take_chunks(0);
  for (int spins = 0; n_busy_.load(std::memory_order_acquire) > 0; ++spins) {
    // A worker may have lost its processor to a neighbour: give ours away rather than burn it.
    if (spins < kSpins) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::take_chunks(int thread) {
  for (;;) {
    const size_t begin = next_.fetch_add(loop_.grain, std::memory_order_relaxed);
    if (begin >= loop_.n) return;
    loop_.call(loop_.context, begin, std::min(begin + loop_.grain, loop_.n), thread);
  }
}

bool ThreadPool::wait_for_loop(uint64_t seen) {
  for (int spins = 0; spins < kSpins; ++spins) {
    if (generation_.load(std::memory_order_acquire) != seen) return !stopping_;
    relax();
  }
  std::unique_lock lock(mutex_);
  n_asleep_.fetch_add(1);
  wake_.wait(lock, [&] { return generation_.load() != seen; });
  n_asleep_.fetch_sub(1);
  return !stopping_;
}

void ThreadPool::work(int thread) {
  for (uint64_t seen = 0; wait_for_loop(seen);) {
    ++seen;
    take_chunks(thread);
    n_busy_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace tandem
