#include "base/cpu_features.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tandem {
namespace {

/// Processors that a cgroup v2 quota allows ("max 100000" or "200000 100000"), or `otherwise`.
int cgroup_quota(int otherwise) {
  std::ifstream in("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period) || quota == "max" || period <= 0) return otherwise;
  return std::max(1, static_cast<int>(std::ceil(std::stod(quota) / period)));
}

}  // namespace

#if defined(__x86_64__)

namespace {

/// Tile data are 8 KB that every switch of threads would save, so each process must ask. Threads
/// inherit the permission.
bool request_tile_registers() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

CpuFeatures CpuFeatures::detect() {
  __builtin_cpu_init();
  CpuFeatures f;
  f.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  f.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  f.avx512_vnni = f.avx512 && __builtin_cpu_supports("avx512vnni");
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) {
    f.avx_vnni = f.avx2 && (eax & (1u << 4));
    f.avx512_bf16 = f.avx512 && (eax & (1u << 5));
  }
  if (f.avx512_vnni && f.avx512_bf16 && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    constexpr unsigned kBf16TilesAndInt8 = 1u << 22 | 1u << 24 | 1u << 25;
    f.amx = (edx & kBf16TilesAndInt8) == kBf16TilesAndInt8 && request_tile_registers();
  }
  return f;
}

#elif defined(__aarch64__)

CpuFeatures CpuFeatures::detect() {
  CpuFeatures f;
  f.neon_dotprod = getauxval(AT_HWCAP) & (1ul << 20);
  f.neon_i8mm = getauxval(AT_HWCAP2) & (1ul << 13);
  return f;
}

#else

CpuFeatures CpuFeatures::detect() { return {}; }

#endif

std::string CpuFeatures::to_string() const {
  const std::pair<bool, const char*> names[] = {{avx2, "avx2"},
                                                {avx_vnni, "avx_vnni"},
                                                {avx512, "avx512"},
                                                {avx512_vnni, "avx512_vnni"},
                                                {avx512_bf16, "avx512_bf16"},
                                                {amx, "amx"},
                                                {neon_dotprod, "neon_dotprod"},
                                                {neon_i8mm, "neon_i8mm"}};
  std::string out;
  for (const auto& [present, name] : names) {
    if (present) out += (out.empty() ? "" : " ") + std::string(name);
  }
  return out.empty() ? "none" : out;
}

int usable_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  const int allowed = std::max(1, CPU_COUNT(&mask));
  return std::min(allowed, cgroup_quota(allowed));
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace tandem
