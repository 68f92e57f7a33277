#pragma once

#include <cstdint>
#include <string>

namespace tandem {

/// What became of loading a vendor's shared library.
struct LibraryProbe {
  enum class Outcome : uint8_t {
    kLoads,
    kMissing,  ///< there is no such file where the loader looks
    kRefused,  ///< the loader found it and did not take it: another architecture, a missing symbol
    kCrashed,  ///< its initialization ended the process
    kHung,     ///< its initialization did not return in time
  };
  Outcome outcome;
  std::string sentence;  ///< with the library's name and the loader's words; for people
};

/// Loads a library (a path, or a name that the loader searches for) in a child process, so that
/// its initialization can neither crash nor hang this one; call it before loading it for real. The
/// child's output is dropped. Not for processes that must not fork. Linux and its like only.
LibraryProbe probe_vendor_library(const std::string& library, double deadline_seconds = 5);

}  // namespace tandem
