#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace tandem::testing {

/// Bytes of this process that are in memory now.
inline uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tandem::testing
