// The rates of the machine: measured once by all processes, and kept until they are measured again on request.

#include "cache/MachineRates.h"
#include "test/cache/CacheFolder.h"
#include <sys/wait.h>

using namespace freestone;
using namespace freestone::test;
using cache::MachineRates;
namespace fs = std::filesystem;

namespace {

/// Measures another text each time.
class Meter {
public:
  MachineRates::Measure get() {
    return [this] { return "{\"times\": " + std::to_string(++times) + "}"; };
  }
  int times = 0;
};

/// The only file of the folder's machines.
std::string fileIn(const CacheFolder &folder) {
  std::string found;
  for (const auto &file : fs::directory_iterator(folder.path() + "/machine"))
    found = found.empty() ? file.path().string() : "several";
  return found;
}

} // namespace

TEST(MachineRates, AreMeasuredOnceAndKept) {
  CacheFolder folder;
  Meter meter;
  EXPECT_EQ(MachineRates::recall(folder.settings()).text, "");
  EXPECT_FALSE(fs::exists(folder.path())) << "to look writes nothing";
  MachineRates first = MachineRates::find(folder.settings(), meter.get());
  EXPECT_EQ(first.text, "{\"times\": 1}");
  EXPECT_GT(first.seconds, 0);
  EXPECT_EQ(first.path, fileIn(folder));
  MachineRates second = MachineRates::find(folder.settings(), meter.get());
  EXPECT_EQ(second.text, first.text);
  EXPECT_EQ(second.seconds, 0);
  EXPECT_EQ(MachineRates::recall(folder.settings()).text, first.text);
  EXPECT_EQ(meter.times, 1);
  MachineRates again = MachineRates::renew(folder.settings(), meter.get());
  EXPECT_EQ(again.text, "{\"times\": 2}");
  EXPECT_EQ(MachineRates::find(folder.settings(), meter.get()).text, again.text);
  EXPECT_EQ(fs::file_size(fileIn(folder)), fs::file_size(again.path));
  EXPECT_TRUE(folder.said.empty()) << folder.said[0];
}

TEST(MachineRates, EachLesserMachineHasItsOwn) {
  CacheFolder folder;
  Meter meter;
  std::string before = getenv("FREESTONE_HOST") ? getenv("FREESTONE_HOST") : "";
  unsetenv("FREESTONE_HOST");
  std::string whole = MachineRates::find(folder.settings(), meter.get()).path;
  setenv("FREESTONE_HOST", "x86-64-v3", 1);
  MachineRates lesser = MachineRates::find(folder.settings(), meter.get());
  EXPECT_NE(lesser.path, whole);
  EXPECT_EQ(lesser.text, "{\"times\": 2}");
  unsetenv("FREESTONE_HOST");
  EXPECT_EQ(MachineRates::find(folder.settings(), meter.get()).text, "{\"times\": 1}");
  if (!before.empty())
    setenv("FREESTONE_HOST", before.c_str(), 1);
}

TEST(MachineRates, WithoutLeaveToWriteNothingIsMeasured) {
  for (cache::Mode mode : {cache::Mode::Off, cache::Mode::ReadOnly}) {
    CacheFolder folder;
    Meter meter;
    cache::Settings settings = folder.settings();
    settings.mode = mode;
    EXPECT_EQ(MachineRates::find(settings, meter.get()).text, "");
    EXPECT_FALSE(fs::exists(folder.path()));
    MachineRates::find(folder.settings(), meter.get());
    EXPECT_EQ(MachineRates::find(settings, meter.get()).text, "{\"times\": 1}") << "what is kept serves";
    EXPECT_EQ(meter.times, 1);
    EXPECT_TRUE(folder.said.empty()) << folder.said[0];
  }
  Meter meter;
  cache::Settings nowhere;
  EXPECT_EQ(MachineRates::find(nowhere, meter.get()).text, "");
  EXPECT_EQ(meter.times, 0);
}

TEST(MachineRates, ADamagedFileIsMeasuredAnew) {
  CacheFolder folder;
  Meter meter;
  MachineRates::find(folder.settings(), meter.get());
  std::string path = fileIn(folder), good = readText(path);
  int times = 1;
  for (size_t at = 0; at <= good.size(); at += 7) {
    std::string cut = good.substr(0, at), changed = good;
    changed[std::min(at, good.size() - 1)] ^= 1;
    for (const std::string &text : {cut, changed, good + "x"}) {
      if (text == good)
        continue;
      writeText(path, text);
      EXPECT_EQ(MachineRates::recall(folder.settings()).text, "") << at;
      MachineRates found = MachineRates::find(folder.settings(), meter.get());
      EXPECT_EQ(found.text, "{\"times\": " + std::to_string(++times) + "}") << at;
      EXPECT_EQ(MachineRates::recall(folder.settings()).text, found.text);
    }
  }
  EXPECT_TRUE(folder.said.empty()) << folder.said[0];
}

TEST(MachineRates, AFolderThatCannotBeWrittenIsOnlyAWarning) {
  CacheFolder folder;
  Meter meter;
  writeText(folder.path(), "no folder");
  EXPECT_EQ(MachineRates::find(folder.settings(), meter.get()).text, "");
  EXPECT_EQ(MachineRates::renew(folder.settings(), meter.get()).text, "");
  ASSERT_EQ(folder.said.size(), 2u);
  EXPECT_NE(folder.said[0].find("estimates serve"), std::string::npos) << folder.said[0];
}

TEST(MachineRates, WhatMeasuringThrowsComesThroughAndIsNotKept) {
  CacheFolder folder;
  Meter meter;
  auto fail = []() -> std::string { throw std::runtime_error("no compiler"); };
  EXPECT_THROW(MachineRates::find(folder.settings(), fail), std::runtime_error);
  EXPECT_EQ(MachineRates::find(folder.settings(), meter.get()).text, "{\"times\": 1}");
}

TEST(MachineRates, OneOfManyProcessesMeasures) {
  CacheFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    if (pid_t child = fork(); child == 0) {
      auto measure = [&] {
        writeText(folder / ("by" + std::to_string(getpid())), "");
        usleep(50'000);
        return std::to_string(getpid());
      };
      std::string text = MachineRates::find(folder.settings(), measure).text;
      writeText(folder / ("found" + std::to_string(getpid())), text);
      _exit(0);
    } else {
      children.push_back(child);
    }
  std::set<std::string> found;
  int measured = 0;
  for (pid_t child : children) {
    waitpid(child, nullptr, 0);
    found.insert(readText(folder / ("found" + std::to_string(child))));
    measured += fs::exists(folder / ("by" + std::to_string(child)));
  }
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(found.size(), 1u) << "all have the same";
}
