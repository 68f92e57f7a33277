#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

/// One thing that a machine may offer to inference, and what was found.
struct Finding {
  std::string subject;  ///< "RAPL energy counters"
  bool present = false;
  std::string detail;  ///< what was found, or what is missing and how to get it
};

/// Looks under `root` ("/" for this machine; tests give another) for what inference may use:
/// memory, NPUs, their drivers, energy and temperature sensors. Reads only.
std::vector<Finding> examine_machine(const std::string& root);

/// Whether the libraries that drive NPUs load on this machine.
std::vector<Finding> examine_vendor_libraries();

}  // namespace tandem::cli
