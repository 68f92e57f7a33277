#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace tandem {

/// Runs one loop at a time over a fixed set of threads, the caller being thread 0. Workers spin
/// briefly between loops and then sleep, so a decode step pays no wake-up and an idle chat no
/// power.
///
///   pool.parallel_for(n_tiles, 4, [&](size_t begin, size_t end, int thread) { ... });
///
/// Chunks are handed out as threads become free, so a slow core or a busy neighbour delays only its
/// own chunk. Never allocates after construction. One loop at a time: calls from several threads
/// must be serialised by the caller.
class ThreadPool {
 public:
  /// `n_threads` >= 1 counts the caller.
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int n_threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls `body(begin, end, thread)` for consecutive ranges that cover [0, n) exactly once, each
  /// at most `grain` long; returns when all are done.
  template <class Body>
  void parallel_for(size_t n, size_t grain, const Body& body) {
    run({n, grain == 0 ? 1 : grain, &body, [](const void* context, size_t b, size_t e, int t) {
           (*static_cast<const Body*>(context))(b, e, t);
         }});
  }

 private:
  struct Loop {
    size_t n = 0;
    size_t grain = 1;
    const void* context = nullptr;
    void (*call)(const void* context, size_t begin, size_t end, int thread) = nullptr;
  };

  void run(const Loop& loop);
  void work(int thread);
  void take_chunks(int thread);
  bool wait_for_loop(uint64_t seen);

  Loop loop_;
  alignas(64) std::atomic<size_t> next_{0};
  alignas(64) std::atomic<uint64_t> generation_{0};
  alignas(64) std::atomic<int> n_busy_{0};
  std::atomic<int> n_asleep_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

}  // namespace tandem
