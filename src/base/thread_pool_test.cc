#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tandem {
namespace {

TEST(ThreadPool, CoversEveryIndexOnceInChunksOfAtMostTheGrain) {
  for (int n_threads : {1, 2, 5}) {
    ThreadPool pool(n_threads);
    for (size_t n : {0u, 1u, 7u, 1000u}) {
      std::vector<std::atomic<int>> hits(n);
      pool.parallel_for(n, 3, [&](size_t begin, size_t end, int thread) {
        EXPECT_LE(end - begin, 3u);
        EXPECT_LT(thread, n_threads);
        for (size_t i = begin; i < end; ++i) hits[i]++;
      });
      for (auto& hit : hits) EXPECT_EQ(hit, 1);
    }
  }
}

TEST(ThreadPool, StreamsCoverEveryIndexOnceAndShrinkToTheGrain) {
  for (int n_threads : {1, 2, 5}) {
    ThreadPool pool(n_threads);
    for (size_t n : {0u, 1u, 7u, 1000u}) {
      std::vector<std::atomic<int>> hits(n);
      std::atomic<size_t> shortest{n};
      pool.parallel_for_streams(n, 3, [&](size_t begin, size_t end, int) {
        EXPECT_TRUE(end == n || (end - begin) % 3 == 0);
        size_t known = shortest;
        while (end - begin < known && !shortest.compare_exchange_weak(known, end - begin)) {
        }
        for (size_t i = begin; i < end; ++i) hits[i]++;
      });
      for (auto& hit : hits) EXPECT_EQ(hit, 1);
      EXPECT_TRUE(n_threads == 1 || shortest <= 3u);
    }
  }
}

TEST(ThreadPool, DoesNotWaitForWorkersThatHoldNothing) {
  // Far more threads than processors: loops end although most workers never had a turn.
  ThreadPool pool(64);
  std::atomic<size_t> sum{0};
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for(4, 1, [&](size_t begin, size_t, int) { sum += begin; });
  }
  EXPECT_EQ(sum, 200u * 6);
}

TEST(ThreadPool, EndsWhileWorkersAreOnTheirWayToALoop) {
  std::atomic<size_t> sum{0};
  for (int round = 0; round < 1000; ++round) {
    ThreadPool pool(16);
    pool.parallel_for(4, 1, [&](size_t begin, size_t, int) { sum += begin; });
  }
  EXPECT_EQ(sum, 1000u * 6);
}

TEST(ThreadPool, ManyShortLoopsAndWakingFromSleepLoseNothing) {
  ThreadPool pool(3);
  std::atomic<size_t> sum{0};
  for (int round = 0; round < 5000; ++round) {
    pool.parallel_for(8, 1, [&](size_t begin, size_t, int) { sum += begin; });
    if (round % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(sum, 5000u * 28);
}

}  // namespace
}  // namespace tandem
