#include "base/thread_pool.h"

#include <algorithm>

namespace tandem {
namespace {

// About 20 microseconds: longer than the serial gaps inside a token, shorter than a scheduler tick.
constexpr int kSpins = 4000;

// state_ = loop number | open bit | workers inside.
constexpr uint64_t kOpen = 1u << 15;
constexpr uint64_t kInside = kOpen - 1;
constexpr uint64_t kOneLoop = 1u << 16;
uint64_t loop_number(uint64_t state) { return state / kOneLoop; }

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
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::run(const Loop& loop) {
  if (loop.n == 0) return;
  if (workers_.empty() || loop.n <= loop.grain) {
    const size_t step = loop.shrinks ? loop.n : loop.grain;
    for (size_t begin = 0; begin < loop.n; begin += step) {
      loop.call(loop.context, begin, std::min(begin + step, loop.n), 0);
    }
    return;
  }
  loop_ = loop;
  next_.store(0, std::memory_order_relaxed);
  state_.store((loop_number(state_.load(std::memory_order_relaxed)) + 1) * kOneLoop | kOpen);
  if (n_asleep_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take_chunks(0);
  state_.fetch_and(~kOpen);
  for (int spins = 0; (state_.load(std::memory_order_acquire) & kInside) > 0; ++spins) {
    // A worker may have lost its processor to a neighbour: give ours away rather than burn it.
    if (spins < kSpins) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

bool ThreadPool::take_chunk(size_t& begin, size_t& end) {
  if (!loop_.shrinks) {
    begin = next_.fetch_add(loop_.grain, std::memory_order_relaxed);
    end = std::min(begin + loop_.grain, loop_.n);
    return begin < loop_.n;
  }
  begin = next_.load(std::memory_order_relaxed);
  do {
    if (begin >= loop_.n) return false;
    // Half of a fair share of what is left, in whole grains.
    const size_t share = (loop_.n - begin) / (2 * n_threads()) / loop_.grain * loop_.grain;
    end = std::min(begin + std::max(loop_.grain, share), loop_.n);
  } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  return true;
}

void ThreadPool::take_chunks(int thread) {
  size_t begin = 0, end = 0;
  while (take_chunk(begin, end)) loop_.call(loop_.context, begin, end, thread);
}

/// Enters the present loop, if it is still open; `seen` becomes its number.
bool ThreadPool::join_loop(uint64_t& seen) {
  uint64_t state = state_.load(std::memory_order_acquire);
  while (state & kOpen) {
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) break;
  }
  seen = loop_number(state);
  return state & kOpen;
}

bool ThreadPool::wait_for_loop(uint64_t seen) {
  // The end too: a worker that was on its way to a loop when the pool ended has seen every number.
  const auto has_come = [&] { return stopping_ || loop_number(state_.load()) != seen; };
  for (int spins = 0; spins < kSpins; ++spins) {
    if (has_come()) return !stopping_;
    relax();
  }
  std::unique_lock lock(mutex_);
  n_asleep_.fetch_add(1);
  wake_.wait(lock, has_come);
  n_asleep_.fetch_sub(1);
  return !stopping_;
}

void ThreadPool::work(int thread) {
  for (uint64_t seen = 0; wait_for_loop(seen);) {
    if (!join_loop(seen)) continue;
    take_chunks(thread);
    state_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace tandem
