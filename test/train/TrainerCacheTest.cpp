// The cache as reported to an application by its trainers. Run with the path of the MLP's model.
#include "test/train/Files.h"

#include <algorithm>
#include <fcntl.h>
#include <freestone/trainer.h>
#include <sys/file.h>
#include <unistd.h>

using namespace freestone;
namespace fs = std::filesystem;

namespace {

const char *modelPath = nullptr;

/// Makes a folder of this test the user's cache for its lifetime.
class OwnCache {
public:
  OwnCache() {
    if (const char *value = getenv(variable))
      before = value;
    setenv(variable, path().c_str(), 1);
  }
  ~OwnCache() { before ? setenv(variable, before->c_str(), 1) : unsetenv(variable); }
  OwnCache(const OwnCache &) = delete;
  OwnCache &operator=(const OwnCache &) = delete;

  /// The cache's folder, missing at first.
  std::string path() const { return folder / "cache"; }
  std::vector<fs::path> entries(const std::string &kind) const {
    std::vector<fs::path> all;
    for (const auto &file : fs::directory_iterator(path() + "/" + kind))
      all.push_back(file.path());
    return all;
  }
  /// Makes a trainer; returns whether it compiled.
  bool train(bool noCache = false) {
    phases.clear();
    warnings.clear();
    auto onCompile = [this](const std::string &phase, int64_t, int64_t) {
      phases.push_back(phase);
      if (phase == "wait")
        onWait();
    };
    Trainer(modelPath, {.onCompile = onCompile,
                        .noCache = noCache,
                        .onWarning = [this](const std::string &sentence) { warnings.push_back(sentence); },
                        .threads = 1});
    return std::ranges::count(phases, "import") > 0;
  }

  std::vector<std::string> phases, warnings;
  std::function<void()> onWait = [] { ADD_FAILURE(); };

private:
  static constexpr const char *variable = "FREESTONE_CACHE_DIR";
  test::Folder folder;
  std::optional<std::string> before;
};

TEST(TrainerCache, ARefusedFolderIsTold) {
  OwnCache cache;
  fs::create_directory(cache.path());
  fs::permissions(cache.path(), fs::perms::all);
  EXPECT_TRUE(cache.train());
  ASSERT_EQ(cache.warnings.size(), 1u) << "by the library alone, and not by the compiler again";
  EXPECT_NE(cache.warnings[0].find("others can write '" + cache.path() + "'"), std::string::npos) << cache.warnings[0];
  EXPECT_TRUE(cache.warnings[0].ends_with("makes it safe)")) << cache.warnings[0];
  EXPECT_TRUE(fs::is_empty(cache.path()));
  // The rates of this machine would be there even without the cache.
  EXPECT_TRUE(cache.train(/*noCache=*/true));
  ASSERT_EQ(cache.warnings.size(), 1u);
  EXPECT_NE(cache.warnings[0].find("estimates serve"), std::string::npos) << cache.warnings[0];
}

TEST(TrainerCache, NothingIsKeptWhereThereIsToBeNone) {
  OwnCache cache;
  EXPECT_TRUE(cache.train(/*noCache=*/true));
  for (const auto &file : fs::recursive_directory_iterator(cache.path()))
    EXPECT_TRUE(file.is_directory() || file.path().parent_path().filename() == "machine" ||
                file.path().filename() == "CACHEDIR.TAG")
        << file.path();
  EXPECT_TRUE(cache.train());
  EXPECT_FALSE(cache.train());
  EXPECT_TRUE(cache.phases.empty());
  EXPECT_TRUE(cache.train(/*noCache=*/true));
  EXPECT_TRUE(cache.warnings.empty());
}

TEST(TrainerCache, WhatTheCompilerFindsDamagedIsTold) {
  OwnCache cache;
  cache.train();
  fs::remove(cache.entries("model").at(0));
  fs::path code = cache.entries("code").at(0);
  fs::resize_file(code, fs::file_size(code) / 2);
  EXPECT_TRUE(cache.train());
  ASSERT_EQ(cache.warnings.size(), 1u);
  EXPECT_NE(cache.warnings[0].find("code/" + code.filename().string() + " is damaged"), std::string::npos)
      << cache.warnings[0];
  fs::resize_file(cache.entries("model").at(0), 1000);
  EXPECT_TRUE(cache.train());
  ASSERT_EQ(cache.warnings.size(), 1u);
  EXPECT_NE(cache.warnings[0].find("is damaged"), std::string::npos) << cache.warnings[0];
  EXPECT_FALSE(cache.train());
  EXPECT_TRUE(cache.warnings.empty());
}

TEST(TrainerCache, AWaitForAnotherProcessIsAnEvent) {
  OwnCache cache;
  cache.train();
  fs::path model = cache.entries("model").at(0), hidden = cache.path() + "/../hidden";
  for (const fs::path &entry : {model, cache.entries("code").at(0)}) {
    // As if another process were compiling: it has the lock, and the entry is missing. A process that waits for the
    // code has already begun to compile the model, so that entry is missing as well.
    fs::rename(entry, hidden);
    fs::remove(model);
    int lock = open((cache.path() + "/lock/" + entry.filename().string()).c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(flock(lock, LOCK_EX), 0);
    // It finishes as soon as it is waited for.
    cache.onWait = [&] {
      fs::rename(hidden, entry);
      close(lock);
    };
    EXPECT_EQ(cache.train(), entry != model);
    EXPECT_EQ(std::ranges::count(cache.phases, "wait"), 1);
    EXPECT_EQ(std::ranges::count(cache.phases, "code"), 0);
    EXPECT_TRUE(cache.warnings.empty());
  }
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  modelPath = argc > 1 ? argv[1] : "models/mlp.onnx";
  return RUN_ALL_TESTS();
}
