#include "cache/Settings.h"
#include <gtest/gtest.h>
#include <map>
#include <stdlib.h>

using namespace freestone::cache;

namespace {

/// Sets the cache's environment variables to these alone, and restores them.
class Environment {
public:
  explicit Environment(const std::map<std::string, std::string> &variables) {
    for (const char *name :
         {"FREESTONE_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "FREESTONE_CACHE", "FREESTONE_CACHE_SIZE"}) {
      const char *value = getenv(name);
      before[name] = value ? std::optional<std::string>(value) : std::nullopt;
      auto given = variables.find(name);
      set(name, given == variables.end() ? std::nullopt : std::optional(given->second));
    }
  }
  ~Environment() {
    for (const auto &[name, value] : before)
      set(name, value);
  }
  Environment(const Environment &) = delete;
  Environment &operator=(const Environment &) = delete;

private:
  static void set(const std::string &name, const std::optional<std::string> &value) {
    value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before;
};

Settings settingsOf(const std::map<std::string, std::string> &variables) {
  Environment environment(variables);
  std::string error;
  Settings settings = Settings::fromEnvironment(error);
  EXPECT_EQ(error, "");
  return settings;
}

std::string errorOf(const std::map<std::string, std::string> &variables) {
  Environment environment(variables);
  std::string error;
  Settings::fromEnvironment(error);
  return error;
}

} // namespace

TEST(Settings, TheFolderIsTheFirstThatIsNamed) {
  EXPECT_EQ(settingsOf({{"FREESTONE_CACHE_DIR", "/d"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).folder, "/d");
  EXPECT_EQ(settingsOf({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).folder, "/x/freestone");
  EXPECT_EQ(settingsOf({{"HOME", "/h"}}).folder, "/h/.cache/freestone");
  EXPECT_EQ(settingsOf({{"FREESTONE_CACHE_DIR", "here"}}).folder, "here");
  // Empty variables count as unset; XDG's must be absolute paths.
  EXPECT_EQ(settingsOf({{"FREESTONE_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", "/h"}}).folder,
            "/h/.cache/freestone");
  EXPECT_EQ(settingsOf({{"XDG_CACHE_HOME", "x"}, {"HOME", "/h"}}).folder, "/h/.cache/freestone");
  Settings nowhere = settingsOf({});
  EXPECT_EQ(nowhere.folder, "");
  EXPECT_EQ(nowhere.mode, Mode::Off);
}

TEST(Settings, TheModeIsAsItIsSaid) {
  EXPECT_EQ(settingsOf({{"HOME", "/h"}}).mode, Mode::ReadWrite);
  EXPECT_EQ(settingsOf({{"HOME", "/h"}, {"FREESTONE_CACHE", ""}}).mode, Mode::ReadWrite);
  EXPECT_EQ(settingsOf({{"HOME", "/h"}, {"FREESTONE_CACHE", "rw"}}).mode, Mode::ReadWrite);
  EXPECT_EQ(settingsOf({{"HOME", "/h"}, {"FREESTONE_CACHE", "ro"}}).mode, Mode::ReadOnly);
  EXPECT_EQ(settingsOf({{"HOME", "/h"}, {"FREESTONE_CACHE", "off"}}).mode, Mode::Off);
  for (const char *wrong : {"on", "OFF", "0", "rw "})
    EXPECT_EQ(errorOf({{"FREESTONE_CACHE", wrong}}),
              std::string("FREESTONE_CACHE is '") + wrong + "'; it is off, ro or rw");
}

TEST(Settings, TheSizeIsANumberOfBytes) {
  EXPECT_EQ(settingsOf({}).maxBytes, uint64_t(8) << 30);
  EXPECT_EQ(settingsOf({{"FREESTONE_CACHE_SIZE", ""}}).maxBytes, uint64_t(8) << 30);
  EXPECT_EQ(settingsOf({{"FREESTONE_CACHE_SIZE", "500M"}}).maxBytes, uint64_t(500) << 20);
  EXPECT_EQ(settingsOf({{"FREESTONE_CACHE_SIZE", "0"}}).maxBytes, 0u);
  EXPECT_NE(errorOf({{"FREESTONE_CACHE_SIZE", "much"}}).find("FREESTONE_CACHE_SIZE is 'much'"), std::string::npos);
}

TEST(Settings, BytesAreRead) {
  EXPECT_EQ(parseBytes("0"), 0u);
  EXPECT_EQ(parseBytes("1000"), 1000u);
  EXPECT_EQ(parseBytes("1K"), 1024u);
  EXPECT_EQ(parseBytes("3M"), uint64_t(3) << 20);
  EXPECT_EQ(parseBytes("8G"), uint64_t(8) << 30);
  EXPECT_EQ(parseBytes("2T"), uint64_t(2) << 40);
  EXPECT_EQ(parseBytes("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parseBytes("16777215T"), uint64_t(16777215) << 40);
  for (const char *wrong :
       {"", "K", "-1", "+1", " 1", "1 ", "1k", "1KB", "1.5G", "0x10", "1P", "18446744073709551616", "16777216T", "G8"})
    EXPECT_EQ(parseBytes(wrong), std::nullopt) << wrong;
  EXPECT_EQ(parseBytes(std::string_view("1\0", 2)), std::nullopt);
}
