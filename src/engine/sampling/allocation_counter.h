#pragma once

#include <cstddef>

namespace tandem {

/// Calls of operator new so far in a test program that links allocation_counter.cc.
size_t n_allocations();

}  // namespace tandem
