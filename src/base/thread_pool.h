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
/// own chunk, and a worker that has lost its processor is not waited for unless it holds one. Never
/// allocates after construction. One loop at a time: calls from several threads must be serialised
/// by the caller.
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
    run(loop_over(n, grain, body));
  }

  /// As parallel_for for bodies that stream memory: ranges start long and shrink to `grain`
  /// (unless the last), so that a thread seldom leaves a stream that the hardware follows.
  template <class Body>
  void parallel_for_streams(size_t n, size_t grain, const Body& body) {
    Loop loop = loop_over(n, grain, body);
    loop.shrinks = true;
    run(loop);
  }

 private:
  struct Loop {
    size_t n = 0;
    size_t grain = 1;
    bool shrinks = false;  ///< ranges longer than `grain` while much is left
    const void* context = nullptr;
    void (*call)(const void* context, size_t begin, size_t end, int thread) = nullptr;
  };

  template <class Body>
  static Loop loop_over(size_t n, size_t grain, const Body& body) {
    return {.n = n,
            .grain = grain == 0 ? 1 : grain,
            .context = &body,
            .call = [](const void* context, size_t b, size_t e, int t) {
              (*static_cast<const Body*>(context))(b, e, t);
            }};
  }
  void run(const Loop& loop);
  void work(int thread);
  void take_chunks(int thread);
  bool take_chunk(size_t& begin, size_t& end);
  bool join_loop(uint64_t& seen);
  /// False when the pool ends.
  bool wait_for_loop(uint64_t seen);

  Loop loop_;
  alignas(64) std::atomic<size_t> next_{0};
  /// Number of the loop, whether workers may still join it, and how many are inside.
  alignas(64) std::atomic<uint64_t> state_{0};
  std::atomic<int> n_asleep_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

}  // namespace tandem
