// The limits of control groups, read from folders in the kernel's layout.
#include "runtime/platform/AvailableMemory.h"
#include "runtime/platform/Cpus.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace freestone::runtime::platform;

namespace {

constexpr uint64_t mebibyte = uint64_t(1) << 20;

class Cgroups : public testing::Test {
protected:
  Cgroups() : root(testing::TempDir() + "cgroups-" + std::to_string(getpid())) {
    write("/proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:    4096 kB\n");
  }
  ~Cgroups() override { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  /// Writes the files of the group in `folder`, by the names of version 1.
  void writeMemory(const std::string &folder, uint64_t limit, uint64_t used, uint64_t files) {
    write(folder + "/memory.limit_in_bytes", std::to_string(limit) + "\n");
    write(folder + "/memory.usage_in_bytes", std::to_string(used) + "\n");
    write(folder + "/memory.stat", "active_file 7\ntotal_inactive_file " + std::to_string(files) + "\n");
  }

  std::string root;
};

} // namespace

TEST_F(Cgroups, WithoutThemTheMachineIsAll) {
  EXPECT_EQ(availableMemory(root), 4 * mebibyte);
  EXPECT_EQ(quotaCpus(root), std::nullopt);
  std::filesystem::remove_all(root);
  EXPECT_EQ(availableMemory(root), std::nullopt);
}

TEST_F(Cgroups, OfVersion2LimitWithinThoseThatEncloseThem) {
  write("/proc/self/cgroup", "0::/outer/inner\n");
  write("/sys/fs/cgroup/outer/memory.max", "3145728\n");
  write("/sys/fs/cgroup/outer/memory.current", "2621440\n");
  write("/sys/fs/cgroup/outer/memory.stat", "anon 5\nactive_file 524288\ninactive_file 1048576\n");
  write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("/sys/fs/cgroup/outer/inner/memory.current", "1024\n");
  EXPECT_EQ(availableMemory(root), 2 * mebibyte);
  write("/sys/fs/cgroup/outer/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/outer/inner/cpu.max", "150000 100000\n");
  EXPECT_EQ(quotaCpus(root), 2);
}

TEST_F(Cgroups, OfVersion1LimitWithinThoseThatEncloseThem) {
  write("/proc/self/cgroup", "5:memory:/a/b\n4:cpu,cpuacct:/a\n1:name=systemd:/\n");
  writeMemory("/sys/fs/cgroup/memory", 9223372036854771712u, 90 * mebibyte, 0);
  writeMemory("/sys/fs/cgroup/memory/a", 3 * mebibyte, 2 * mebibyte, mebibyte);
  writeMemory("/sys/fs/cgroup/memory/a/b", 8 * mebibyte, mebibyte, 0);
  EXPECT_EQ(availableMemory(root), 2 * mebibyte);
  writeMemory("/sys/fs/cgroup/memory/a/b", mebibyte, 2 * mebibyte, 0);
  EXPECT_EQ(availableMemory(root), 0u);
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quotaCpus(root), std::nullopt);
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(quotaCpus(root), 3);
}
