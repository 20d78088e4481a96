#include "runtime/platform/File.h"
#include <array>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace freestone::runtime;

TEST(File, PipesAreWrittenRatherThanReplaced) {
  std::string path = testing::TempDir() + "freestone-pipe-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  int pipe = open(path.c_str(), O_RDWR);
  const std::array<uint8_t, 3> piece = {1, 2, 3};
  const std::span<const uint8_t> pieces[] = {piece, piece};
  EXPECT_TRUE(platform::writeFileAtomically(path, pieces).ok());
  std::array<uint8_t, 6> got = {};
  EXPECT_EQ(read(pipe, got.data(), got.size()), 6);
  EXPECT_EQ(got, (std::array<uint8_t, 6>{1, 2, 3, 1, 2, 3}));
  struct stat properties;
  ASSERT_EQ(stat(path.c_str(), &properties), 0);
  EXPECT_TRUE(S_ISFIFO(properties.st_mode));
  close(pipe);
  unlink(path.c_str());
}
