// What this machine offers: read from /proc, /sys and /dev.

#include "cli/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "device/vendor_library.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_starting_with(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(prefix)) out.push_back(at->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string names(const std::vector<fs::path>& paths) {
  std::string out;
  for (const fs::path& p : paths) out += (out.empty() ? "" : ", ") + p.filename().string();
  return out;
}

Finding memory(const fs::path& root) {
  std::ifstream in(root / "proc/meminfo");
  double total = 0, available = 0;
  for (std::string key; in >> key;) {
    double kib = 0;
    if (!(in >> kib)) in.clear();
    if (key == "MemTotal:") total = kib;
    if (key == "MemAvailable:") available = kib;
    in.ignore(4096, '\n');
  }
  if (total == 0) return {"memory", false, "/proc/meminfo cannot be read"};
  return {"memory", true,
          fmt::format("{:.1f} GiB, {:.1f} GiB available", total / 1048576, available / 1048576)};
}

Finding device_nodes(const fs::path& root, const char* subject, const char* folder,
                     const char* prefix, const char* missing) {
  const auto found = entries_starting_with(root / folder, prefix);
  if (found.empty()) return {subject, false, missing};
  return {subject, true, fmt::format("/{}: {}", folder, names(found))};
}

/// What drives an NPU from a program. Tried in a process of its own: some crash or hang where their
/// hardware is missing.
Finding vendor_library(const char* subject, const char* library) {
  const LibraryProbe probe = probe_vendor_library(library);
  return {subject, probe.outcome == LibraryProbe::Outcome::kLoads, probe.sentence};
}

Finding energy_counters(const fs::path& root) {
  const auto zones = entries_starting_with(root / "sys/class/powercap", "intel-rapl:");
  if (zones.empty()) {
    return {"energy counters (RAPL)", false,
            "no /sys/class/powercap/intel-rapl:*; virtual machines "
            "and most Arm boards have none"};
  }
  const bool readable = !first_line(zones[0] / "energy_uj").empty();
  return {"energy counters (RAPL)", readable,
          readable ? names(zones) : "energy_uj needs root, or a udev rule that lets you read it"};
}

/// Batteries that feed the machine; those of a mouse or headset have the scope Device.
Finding battery(const fs::path& root) {
  std::vector<fs::path> batteries;
  for (const fs::path& supply : entries_starting_with(root / "sys/class/power_supply", "")) {
    const bool is_battery = first_line(supply / "type") == "Battery";
    if (is_battery && first_line(supply / "scope") != "Device") batteries.push_back(supply);
  }
  if (!batteries.empty()) return {"battery", true, names(batteries)};
  return {"battery", false, "no supply of type Battery under /sys/class/power_supply"};
}

/// A zone may refuse to be read (EINVAL, ENODATA, SELinux); such a zone measures nothing.
Finding thermal_zones(const fs::path& root) {
  const auto zones = entries_starting_with(root / "sys/class/thermal", "thermal_zone");
  if (zones.empty()) return {"thermal zones", false, "none under /sys/class/thermal"};
  std::string readable, unreadable;
  for (const fs::path& zone : zones) {
    std::string& list = first_line(zone / "temp").empty() ? unreadable : readable;
    const std::string type = first_line(zone / "type");
    list += (list.empty() ? "" : ", ") + (type.empty() ? zone.filename().string() : type);
  }
  const bool present = !readable.empty();
  if (!unreadable.empty()) readable += (present ? "; " : "") + ("not readable: " + unreadable);
  return {"thermal zones", present, readable};
}

Finding huge_pages(const fs::path& root) {
  const std::string mode = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  const bool usable = mode.find("[always]") != mode.npos || mode.find("[madvise]") != mode.npos;
  return {"huge pages", usable,
          mode.empty() ? "the kernel has no transparent huge pages" : "transparent: " + mode};
}

}  // namespace

std::vector<Finding> examine_machine(const std::string& root_path) {
  const fs::path root(root_path);
  return {
      memory(root),
      huge_pages(root),
      device_nodes(root, "Intel or AMD NPU", "dev/accel", "accel",
                   "no /dev/accel/accel*: no such NPU, or no intel_vpu or amdxdna driver"),
      device_nodes(root, "Hexagon NPU", "dev", "fastrpc",
                   "no /dev/fastrpc-*: no Qualcomm chip, or no fastrpc driver"),
      device_nodes(root, "Rockchip NPU", "dev", "rknpu",
                   "no /dev/rknpu*: no Rockchip chip, or no rknpu driver"),
      energy_counters(root),
      battery(root),
      thermal_zones(root),
  };
}

std::vector<Finding> examine_vendor_libraries() {
  return {vendor_library("Hexagon library", "libQnnHtp.so"),
          vendor_library("Intel NPU library", "libze_intel_npu.so.1"),
          vendor_library("AMD NPU library", "libxrt_core.so.2"),
          vendor_library("Rockchip library", "librkllmrt.so"),
          vendor_library("ONNX Runtime", "libonnxruntime.so")};
}

}  // namespace tandem::cli
