// Replaces operator new in a test program, to show that steady state allocates nothing. In a file
// of its own so that it is never inlined, which g++ 12 takes for a mismatched pair.

#include "engine/sampling/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<size_t> n_calls = 0;
}  // namespace

size_t tandem::n_allocations() { return n_calls; }

void* operator new(size_t n_bytes) {
  ++n_calls;
  if (void* memory = std::malloc(n_bytes)) return memory;
  std::abort();
}
void* operator new(size_t n_bytes, const std::nothrow_t&) noexcept {
  ++n_calls;
  return std::malloc(n_bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
