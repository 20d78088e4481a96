// Many processes on one folder, some of which are killed: FREESTONE_CACHE_ROUNDS=200 for a long run.

#include "cache/Eviction.h"
#include "test/cache/CacheFolder.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace freestone::cache;
using namespace freestone::test;

namespace {

constexpr int processCount = 32;

/// State shared by the processes of a round.
struct Shared {
  std::atomic<int> begun = 0, made = 0;
  std::atomic<pid_t> maker = 0;
  std::atomic<bool> started = false; ///< set once all processes run; nothing is made before
};

/// Exit codes of a process.
enum { Right = 0, Wrong = 1, Threw = 2 };

std::string slowly(const std::string &path, const std::string &text, Shared &shared, bool fast) {
  shared.maker = getpid();
  ++shared.begun;
  while (!fast && !shared.started)
    usleep(100);
  std::ofstream file(path, std::ios::binary);
  std::string content = contentOf(text);
  for (size_t at = 0; at < content.size(); at += 1000) {
    file << content.substr(at, 1000) << std::flush;
    if (!fast)
      usleep(300);
  }
  ++shared.made;
  return "made";
}

int obtainInProcess(CacheFolder &folder, const std::string &text, Shared &shared, bool fast,
                    FileSystem &system = FileSystem::system()) {
  try {
    Store store(folder.settings(), system);
    Entry entry =
        store.obtain(requestOf(text), [&](const std::string &path) { return slowly(path, text, shared, fast); });
    return entry.payload() == contentOf(text) ? Right : Wrong;
  } catch (...) {
    return Threw;
  }
}

class Round {
public:
  Round(CacheFolder &folder, std::string text, FileSystem &system = FileSystem::system())
      : folder(folder), text(std::move(text)), system(system) {
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = new (memory) Shared;
  }
  ~Round() { munmap(shared, sizeof(Shared)); }

  void start() {
    for (int i = 0; i < processCount; ++i) {
      pid_t child = fork();
      if (child == 0)
        _exit(obtainInProcess(folder, text, *shared, /*fast=*/false, system));
      children.push_back(child);
    }
    shared->started = true;
  }
  /// Kills some of the processes at work; in every second round also the one that makes the entry.
  void killSome(std::mt19937 &random) {
    while (shared->begun == 0)
      usleep(50);
    if (random() % 2)
      kill(shared->maker, SIGKILL);
    for (int i = 0; i < 3; ++i) {
      usleep(random() % 4000);
      kill(children[random() % children.size()], SIGKILL);
    }
  }
  void finish() {
    for (pid_t child : children) {
      int status;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      if (WIFSIGNALED(status)) {
        EXPECT_EQ(WTERMSIG(status), SIGKILL);
        ++died;
      } else {
        EXPECT_EQ(WEXITSTATUS(status), Right);
      }
    }
  }

  CacheFolder &folder;
  std::string text;
  FileSystem &system;
  Shared *shared;
  std::vector<pid_t> children;
  int died = 0;
};

} // namespace

TEST(Processes, OneMakesItAndTheOthersWait) {
  CacheFolder folder;
  Round round(folder, "calm");
  round.start();
  round.finish();
  EXPECT_EQ(round.shared->begun, 1);
  EXPECT_EQ(round.shared->made, 1);
}

TEST(Processes, DeathsTearNothing) {
  const char *given = getenv("FREESTONE_CACHE_ROUNDS");
  int rounds = given ? std::max(1, atoi(given)) : 25;
  CacheFolder folder;
  std::mt19937 random(7);
  int deaths = 0, begun = 0;
  for (int number = 0; number < rounds; ++number) {
    std::string text = "round " + std::to_string(number);
    SCOPED_TRACE(text);
    Round round(folder, text);
    round.start();
    round.killSome(random);
    round.finish();
    if (HasFatalFailure())
      return;
    // If the maker dies, one other process takes over at once.
    EXPECT_LE(round.shared->begun, 1 + round.died);
    deaths += round.died;
    begun += round.shared->begun;
    EXPECT_EQ(obtainInProcess(folder, text, *round.shared, /*fast=*/true), Right);
  }
  EXPECT_GT(deaths, rounds / 2) << "the killing did something";
  EXPECT_GT(begun, rounds) << "and some died while they made it";
  Folder opened(FileSystem::system(), folder.path(), true);
  std::vector<EntryFile> entries = listEntries(opened);
  EXPECT_EQ(entries.size(), static_cast<size_t>(rounds)) << "one entry of each";
  for (const EntryFile &file : entries)
    EntryReader(opened).open(file.kind, file.key, Check::Everything);
  EXPECT_TRUE(folder.said.empty());
}

/// The time checks correctness, not speed: no process waits until a timeout.
TEST(Processes, WhenTheMakerDiesTheNextTakesOverAtOnce) {
  CacheFolder folder;
  std::vector<double> times;
  for (int turn = 0; turn < 10; ++turn) {
    Round round(folder, "takeover " + std::to_string(turn));
    // The first maker never finishes, and is killed.
    Store::Maker make = [&](const std::string &path) {
      if (++round.shared->begun == 1) {
        round.shared->maker = getpid();
        while (true)
          pause();
      }
      writeText(path, contentOf(round.text));
      return "made";
    };
    for (int i = 0; i < 8; ++i) {
      pid_t child = fork();
      if (child == 0) {
        Store store(folder.settings());
        _exit(store.obtain(requestOf(round.text), make).payload() == contentOf(round.text) ? Right : Wrong);
      }
      round.children.push_back(child);
    }
    while (round.shared->maker == 0)
      usleep(50);
    usleep(20'000);
    auto killed = std::chrono::steady_clock::now();
    auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - killed).count(); };
    kill(round.shared->maker, SIGKILL);
    while (round.shared->begun == 1 && elapsed() < 10)
      usleep(50);
    times.push_back(elapsed());
    EXPECT_LT(times.back(), 1);
    round.finish();
    EXPECT_EQ(round.shared->begun, 2);
  }
  std::ranges::sort(times);
  std::printf("takeover: %.1f to %.1f ms\n", 1e3 * times.front(), 1e3 * times.back());
}

/// In a folder without locks, as on some network file systems, several processes make the same entry, some die, and
/// nothing is torn.
TEST(Processes, WithoutLocksNothingTears) {
  CacheFolder folder;
  NoLocks system;
  std::mt19937 random(11);
  constexpr int rounds = 10;
  int deaths = 0, begun = 0;
  for (int number = 0; number < rounds; ++number) {
    std::string text = "round " + std::to_string(number);
    SCOPED_TRACE(text);
    Round round(folder, text, system);
    round.start();
    round.killSome(random);
    round.finish();
    if (HasFatalFailure())
      return;
    deaths += round.died;
    begun += round.shared->begun;
    EXPECT_EQ(obtainInProcess(folder, text, *round.shared, /*fast=*/true, system), Right);
  }
  EXPECT_GT(deaths, rounds / 2);
  EXPECT_GT(begun, 2 * rounds) << "nobody waited";
  Folder opened(system, folder.path(), true);
  std::vector<EntryFile> entries = listEntries(opened);
  EXPECT_EQ(entries.size(), static_cast<size_t>(rounds)) << "one entry of each";
  for (const EntryFile &file : entries)
    EntryReader(opened).open(file.kind, file.key, Check::Everything);
  // Leftovers of dead processes are swept once they are old: without locks only age decides.
  for (const auto &left : std::filesystem::directory_iterator(folder.path() + "/new"))
    std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(48));
  opened.sweep();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/new"));
  EXPECT_TRUE(folder.said.empty());
}

/// A claimed entry is made by one process alone.
TEST(Processes, OneClaimsItAndTheOthersWait) {
  CacheFolder folder;
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto *shared = new (memory) Shared;
  std::vector<pid_t> children;
  Ingredients ingredients;
  ingredients.add("module", "m");
  for (int i = 0; i < processCount; ++i) {
    pid_t child = fork();
    if (child == 0) {
      Store store(folder.settings());
      Claim claim = store.claim(Kind::Code, ingredients);
      if (claim.payload)
        _exit(*claim.payload == contentOf("m") && claim.about == "made" ? Right : Wrong);
      if (!claim.turn || !claim.turn->isHeld())
        _exit(Wrong);
      ++shared->begun;
      while (!shared->started)
        usleep(100);
      // The first one dies when it is its turn.
      if (shared->begun == 1)
        raise(SIGKILL);
      store.keep(Kind::Code, ingredients, contentOf("m"), "made");
      _exit(Right);
    }
    children.push_back(child);
  }
  shared->started = true;
  int died = 0;
  for (pid_t child : children) {
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    died += WIFSIGNALED(status);
    if (!WIFSIGNALED(status))
      EXPECT_EQ(WEXITSTATUS(status), Right);
  }
  EXPECT_EQ(died, 1);
  EXPECT_EQ(shared->begun, 2) << "another one took over, and no third";
  munmap(memory, sizeof(Shared));
}

/// Entries are added and evicted while others read.
TEST(Processes, EvictionTakesNothingAway) {
  CacheFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    pid_t child = fork();
    if (child == 0) {
      Shared own;
      std::mt19937 random(static_cast<unsigned>(i));
      Settings settings = folder.settings();
      settings.maxBytes = 4 * contentOf("0").size();
      for (int turn = 0; turn < 60; ++turn) {
        std::string text = std::to_string(random() % 8);
        Entry entry = Store(settings).obtain(
            requestOf(text), [&](const std::string &path) { return slowly(path, text, own, /*fast=*/true); });
        if (entry.payload() != contentOf(text))
          _exit(Wrong);
      }
      _exit(folder.said.empty() ? Right : Wrong);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == Right) << status;
  }
}
