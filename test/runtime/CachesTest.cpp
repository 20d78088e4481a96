// Caches and cores, read from folders in the kernel's layout.
#include "runtime/platform/Caches.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace freestone::runtime::platform;

namespace {

class Caches : public testing::Test {
protected:
  Caches() : root(testing::TempDir() + "caches-" + std::to_string(getpid())) {}
  ~Caches() override { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    const std::string whole = root + "/sys/devices/system/cpu/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << text << "\n";
  }
  void writeCache(int index, int level, const char *type, const char *size, const char *cpus) {
    const std::string folder = "cpu0/cache/index" + std::to_string(index) + "/";
    write(folder + "level", std::to_string(level));
    write(folder + "type", type);
    write(folder + "size", size);
    write(folder + "shared_cpu_list", cpus);
    write(folder + "coherency_line_size", "128");
  }

  std::string root;
};

} // namespace

TEST_F(Caches, AreThoseOfDataInTheOrderOfTheirLevels) {
  write("present", "0-15");
  write("cpu0/topology/thread_siblings_list", "0,8");
  writeCache(0, 3, "Unified", "105M", "0-7,8-15");
  writeCache(1, 1, "Instruction", "32K", "0,8");
  writeCache(2, 1, "Data", "48K", "0,8");
  writeCache(3, 2, "Unified", "2048K", "0-1,8-9");
  std::vector<Cache> caches = dataCaches(root);
  ASSERT_EQ(caches.size(), 3u);
  EXPECT_EQ(caches[0].bytes, 48 << 10);
  EXPECT_EQ(caches[0].lineBytes, 128u);
  EXPECT_EQ(caches[0].sharedBy, 1u);
  EXPECT_EQ(caches[1].bytes, 2 << 20);
  EXPECT_EQ(caches[1].sharedBy, 2u);
  EXPECT_EQ(caches[2].bytes, 105 << 20);
  EXPECT_EQ(caches[2].sharedBy, 8u);
  EXPECT_EQ(coresOfMachine(root), 8u);
}

TEST_F(Caches, AreNoneWhereTheSystemDoesNotTell) {
  EXPECT_TRUE(dataCaches(root).empty());
  EXPECT_EQ(coresOfMachine(root), 1u);
  writeCache(0, 1, "Data", "much", "");
  EXPECT_TRUE(dataCaches(root).empty());
}
