// Bounds: on waits for dead processes, and on the size of the cache.

#include "cache/Counters.h"
#include "cache/Eviction.h"
#include "test/cache/CacheFolder.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace freestone::cache;
using namespace freestone::test;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

namespace {

/// The lock of a dead machine: held, but without signs of life.
class DeadLock {
public:
  DeadLock(const CacheFolder &folder, const Ingredients &ingredients)
      : file(open((folder.path() + "/lock/" + ingredients.key()).c_str(), O_RDWR | O_CREAT, 0600)) {
    EXPECT_EQ(flock(file, LOCK_EX), 0);
  }
  DeadLock(const DeadLock &) = delete;
  ~DeadLock() { close(file); }

private:
  int file;
};

Ingredients ingredientsOf(const char *name) {
  Ingredients ingredients;
  ingredients.add("program", name);
  return ingredients;
}

uint64_t bytesIn(const Folder &folder) {
  uint64_t bytes = 0;
  for (const EntryFile &file : listEntries(folder))
    bytes += file.bytes;
  return bytes;
}

} // namespace

TEST(LockTimeout, TwoLocksOfADeadMachineAreWaitedForOnce) {
  CacheFolder folder;
  Settings settings = folder.settings();
  settings.lockTimeout = std::chrono::milliseconds(800);
  Store store(settings);
  DeadLock outer(folder, requestOf("x").ingredients), inner(folder, ingredientsOf("code"));
  auto begin = Clock::now();
  CountingMaker maker("x");
  Entry entry = store.obtain(requestOf("x"), [&](const std::string &path) {
    // As the compiler's own.
    Settings within = settings;
    within.lockTimeoutSpent = store.lockTimeoutSpent();
    EXPECT_GE(within.lockTimeoutSpent, settings.lockTimeout);
    Claim claim = Store(within).claim(Kind::Code, ingredientsOf("code"));
    EXPECT_TRUE(claim.turn && !claim.turn->isHeld());
    return maker.get()(path);
  });
  auto waited = Clock::now() - begin;
  EXPECT_GE(waited, settings.lockTimeout);
  EXPECT_LT(waited, 2 * settings.lockTimeout - std::chrono::milliseconds(100));
  EXPECT_EQ(entry.payload(), contentOf("x"));
  EXPECT_EQ(store.lockTimeoutSpent(), std::chrono::milliseconds(0)) << "the next one is waited for again";
}

TEST(LockTimeout, WithoutTheOuterLockTheInnerOneHasAllOfIt) {
  CacheFolder folder;
  Settings settings = folder.settings();
  settings.lockTimeout = std::chrono::milliseconds(300);
  Store store(settings);
  DeadLock inner(folder, ingredientsOf("code"));
  CountingMaker maker("x");
  store.obtain(requestOf("x"), [&](const std::string &path) {
    Settings within = settings;
    within.lockTimeoutSpent = store.lockTimeoutSpent();
    auto begin = Clock::now();
    Store(within).claim(Kind::Code, ingredientsOf("code"));
    EXPECT_GE(Clock::now() - begin, settings.lockTimeout);
    return maker.get()(path);
  });
}

TEST(Bound, HoldsForWhatIsKeptWithoutAModel) {
  CacheFolder folder;
  Settings settings = folder.settings();
  settings.maxBytes = 50'000;
  {
    Store store(settings);
    for (int i = 0; i < 20; ++i)
      store.keep(i % 2 ? Kind::Program : Kind::Code, ingredientsOf(std::to_string(i).c_str()), contentOf("x"), "");
  }
  Folder opened(FileSystem::system(), folder.path(), false);
  EXPECT_LE(bytesIn(opened), settings.maxBytes);
  EXPECT_GT(bytesIn(opened), settings.maxBytes / 2);
}

TEST(Bound, HoldsForCounters) {
  CacheFolder folder;
  Folder opened(FileSystem::system(), folder.path(), true);
  Counters counters(opened);
  for (int i = 0; i < 20'000; ++i)
    counters.add("hits", 1);
  counters.add("evicted", 9'999);
  counters.add("evicted", 1);
  EXPECT_EQ(counters.totals().at("hits"), 20'000u);
  EXPECT_EQ(counters.totals().at("evicted"), 10'000u);
  uintmax_t bytes = 0;
  size_t files = 0;
  for (const auto &file : fs::directory_iterator(folder.path() + "/count")) {
    ++files;
    bytes += fs::file_size(file);
  }
  EXPECT_LE(files, 4u);
  EXPECT_LE(bytes, 2 * 4096u);
}

TEST(Bound, CountersOfManyProcessesLoseLittle) {
  CacheFolder folder;
  Folder(FileSystem::system(), folder.path(), true);
  constexpr int processes = 8, times = 5'000;
  for (int i = 0; i < processes; ++i)
    if (fork() == 0) {
      Folder own(FileSystem::system(), folder.path(), true);
      for (int turn = 0; turn < times; ++turn) {
        try {
          Counters(own).add("hits", 1);
        } catch (const FileError &) {
          // Another process folds.
        }
      }
      _exit(0);
    }
  while (wait(nullptr) > 0)
    ;
  uint64_t total = Counters(Folder(FileSystem::system(), folder.path(), false)).totals().at("hits");
  EXPECT_LE(total, uint64_t(processes * times));
  EXPECT_GE(total, uint64_t(processes * times * 9 / 10));
}

TEST(Bound, HoldsForStamps) {
  CacheFolder folder;
  Folder opened(FileSystem::system(), folder.path(), true);
  for (size_t i = 0; i < mostStamps + 10; ++i)
    writeText(folder.path() + "/stamp/file-" + std::to_string(i), "");
  auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (int i = 0; i < 10; ++i)
    fs::last_write_time(folder.path() + "/stamp/file-" + std::to_string(i), old);
  forgetStamps(opened, stampLife);
  EXPECT_EQ(opened.list("stamp").size(), mostStamps);
  EXPECT_FALSE(fs::exists(folder.path() + "/stamp/file-0")) << "those of no use for the longest time go";
}

namespace {

/// A temporary folder of the process's own.
struct Temporary {
  explicit Temporary(const std::string &folder) {
    const char *given = getenv("TMPDIR");
    before = given ? given : "";
    setenv("TMPDIR", folder.c_str(), 1);
  }
  ~Temporary() { before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1); }
  std::string before;
};

} // namespace

TEST(Unkept, HasNoNameThatCouldBeLeftBehind) {
  CacheFolder folder;
  fs::create_directory(folder / "tmp");
  Temporary temporary(folder / "tmp");
  CountingMaker maker("x");
  Entry entry = Store::makeUnkept([&](const std::string &path) {
    EXPECT_TRUE(fs::is_empty(folder / "tmp"));
    return maker.get()(path);
  });
  EXPECT_EQ(entry.payload(), contentOf("x"));
  EXPECT_EQ(readText(entry.path()), contentOf("x"));
}

TEST(Unkept, IsMadeInMemoryWhereNoFileCanBeWritten) {
  CacheFolder folder;
  CountingMaker maker("x");
  {
    Temporary temporary(folder / "none");
    EXPECT_EQ(Store::makeUnkept(maker.get()).payload(), contentOf("x"));
    EXPECT_EQ(maker.calls, 1);
  }
  // A full disk is noticed only on writing.
  int calls = 0;
  auto make = [&](const std::string &path) {
    if (++calls == 1)
      throw CannotWrite("no space left on device");
    return maker.get()(path);
  };
  EXPECT_EQ(Store::makeUnkept(make).payload(), contentOf("x"));
  EXPECT_EQ(calls, 2);
}
