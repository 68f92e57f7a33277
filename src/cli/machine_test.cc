#include "cli/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

/// A root folder that looks like another machine.
class Machine : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tandem_machine_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void add(const std::string& path, const std::string& text = "") {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  /// A file that is listed and cannot be read, also by root.
  void add_unreadable(const std::string& path) { fs::create_directories(root_ / path); }

  Finding finding(const std::string& subject) const {
    for (const Finding& f : examine_machine(root_.string())) {
      if (f.subject == subject) return f;
    }
    ADD_FAILURE() << "no finding about " << subject;
    return {};
  }

  fs::path root_;
};

TEST_F(Machine, AnEmptyRootLacksEverythingAndSaysWhatIsMissing) {
  const auto findings = examine_machine(root_.string());
  EXPECT_EQ(findings.size(), 8u);
  for (const Finding& f : findings) {
    EXPECT_FALSE(f.present) << f.subject;
    EXPECT_FALSE(f.detail.empty()) << f.subject;
  }
}

TEST_F(Machine, TellsMemory) {
  add("proc/meminfo",
      "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\nHugePages_Total: "
      "0\n");
  EXPECT_EQ(finding("memory").detail, "16.0 GiB, 8.0 GiB available");
}

TEST_F(Machine, TellsTheNpusByTheirNodes) {
  add("dev/accel/accel1");
  add("dev/accel/accel0");
  EXPECT_TRUE(finding("Intel or AMD NPU").present);
  EXPECT_EQ(finding("Intel or AMD NPU").detail, "/dev/accel: accel0, accel1");
  EXPECT_FALSE(finding("Hexagon NPU").present);
  add("dev/fastrpc-cdsp");
  EXPECT_EQ(finding("Hexagon NPU").detail, "/dev: fastrpc-cdsp");
  add("dev/rknpu");
  EXPECT_EQ(finding("Rockchip NPU").detail, "/dev: rknpu");
}

TEST_F(Machine, EnergyCountersMustBeReadable) {
  add_unreadable("sys/class/powercap/intel-rapl:0/energy_uj");
  EXPECT_FALSE(finding("energy counters (RAPL)").present);
  EXPECT_NE(finding("energy counters (RAPL)").detail.find("root"), std::string::npos);
  fs::remove_all(root_ / "sys/class/powercap/intel-rapl:0");
  add("sys/class/powercap/intel-rapl:0/energy_uj", "123456\n");
  EXPECT_TRUE(finding("energy counters (RAPL)").present);
  EXPECT_EQ(finding("energy counters (RAPL)").detail, "intel-rapl:0");
}

TEST_F(Machine, CountsBatteriesOfTheMachineOnly) {
  add("sys/class/power_supply/AC/type", "Mains\n");
  add("sys/class/power_supply/hidpp_battery_0/type", "Battery\n");
  add("sys/class/power_supply/hidpp_battery_0/scope", "Device\n");
  EXPECT_FALSE(finding("battery").present) << "a mouse's battery does not feed the processor";
  add("sys/class/power_supply/BAT1/type", "Battery\n");
  add("sys/class/power_supply/BAT0/type", "Battery\n");
  EXPECT_EQ(finding("battery").detail, "BAT0, BAT1");
}

TEST_F(Machine, ThermalZonesMustGiveATemperature) {
  add("sys/class/thermal/thermal_zone0/type", "cpu-0-0\n");
  add("sys/class/thermal/thermal_zone0/temp", "45000\n");
  add("sys/class/thermal/thermal_zone1/type", "gpu\n");
  add_unreadable("sys/class/thermal/thermal_zone1/temp");
  EXPECT_TRUE(finding("thermal zones").present);
  EXPECT_EQ(finding("thermal zones").detail, "cpu-0-0; not readable: gpu");
  fs::remove_all(root_ / "sys/class/thermal/thermal_zone0");
  EXPECT_FALSE(finding("thermal zones").present);
  EXPECT_EQ(finding("thermal zones").detail, "not readable: gpu");
}

TEST_F(Machine, HugePagesAreUsableWhenAskedForOrAlways) {
  add("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  EXPECT_TRUE(finding("huge pages").present);
  add("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  EXPECT_FALSE(finding("huge pages").present);
}

}  // namespace
}  // namespace tandem::cli
