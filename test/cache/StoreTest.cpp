#include "cache/Eviction.h"
#include "cache/KeyLock.h"
#include "test/cache/CacheFolder.h"
#include <algorithm>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace freestone::cache;
using namespace freestone::test;
namespace fs = std::filesystem;

/// The entry as a new process obtains it.
static std::string obtain(CacheFolder &folder, const std::string &text, CountingMaker &maker) {
  return Store(folder.settings()).obtain(requestOf(text), maker.get()).payload();
}

TEST(Store, MakesOnceAndFindsAfterwards) {
  CacheFolder folder;
  CountingMaker maker("one"), other("two");
  {
    Store store(folder.settings());
    Entry entry = store.obtain(requestOf("one"), maker.get());
    EXPECT_FALSE(entry.wasKept());
    EXPECT_EQ(entry.payload(), contentOf("one"));
    EXPECT_EQ(entry.about(), "made one");
    EXPECT_EQ(store.counters().at("misses"), 1u);
    EXPECT_EQ(store.counters().at("kept"), 1u);
  }
  Store store(folder.settings());
  Entry entry = store.obtain(requestOf("one"), maker.get());
  EXPECT_TRUE(entry.wasKept());
  EXPECT_EQ(entry.payload(), contentOf("one"));
  EXPECT_EQ(entry.about(), "made one");
  EXPECT_EQ(store.counters().at("hits"), 1u);
  EXPECT_EQ(maker.calls, 1);
  EXPECT_EQ(obtain(folder, "two", other), contentOf("two"));
  EXPECT_EQ(other.calls, 1);
  EXPECT_EQ(store.totals().at("misses"), 2u);
  EXPECT_TRUE(folder.said.empty());
  // No unfinished files and no locks are left.
  EXPECT_TRUE(fs::is_empty(folder.path() + "/new"));
  EXPECT_TRUE(fs::is_empty(folder.path() + "/lock"));
}

TEST(Store, KeepsSmallThings) {
  CacheFolder folder;
  Ingredients ingredients;
  ingredients.add("program", "p");
  Store store(folder.settings());
  EXPECT_FALSE(store.find(Kind::Program, ingredients));
  store.keep(Kind::Program, ingredients, std::string_view("\0\1", 2), "of p");
  std::string about;
  EXPECT_EQ(store.find(Kind::Program, ingredients, &about), std::string("\0\1", 2));
  EXPECT_EQ(about, "of p");
  EXPECT_EQ(store.counters().at("program_hits"), 1u);
  EXPECT_EQ(store.counters().at("program_misses"), 1u);
  EXPECT_FALSE(store.find(Kind::Text, ingredients)) << "kinds have names of their own";
}

TEST(Store, WhatAMakerThrowsIsTheCallers) {
  CacheFolder folder;
  Store store(folder.settings());
  auto broken = [](const std::string &) -> std::string { throw std::logic_error("not valid"); };
  EXPECT_THROW(store.obtain(requestOf("x"), broken), std::logic_error);
  EXPECT_TRUE(fs::is_empty(folder.path() + "/new"));
  CountingMaker maker("x");
  EXPECT_EQ(store.obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
}

TEST(Store, AFolderThatWouldRunOthersCodeIsRefused) {
  CacheFolder folder;
  CountingMaker maker("x");
  fs::create_directory(folder.path());
  for (fs::perms others : {fs::perms::others_write, fs::perms::group_write}) {
    fs::permissions(folder.path(), fs::perms::owner_all | others);
    folder.said.clear();
    EXPECT_EQ(obtain(folder, "x", maker), contentOf("x"));
    ASSERT_EQ(folder.said.size(), 1u);
    EXPECT_NE(folder.said[0].find("others can write"), std::string::npos) << folder.said[0];
    EXPECT_TRUE(fs::is_empty(folder.path()));
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown(folder.path().c_str(), 12345, 12345), 0);
  folder.said.clear();
  EXPECT_EQ(obtain(folder, "x", maker), contentOf("x"));
  ASSERT_EQ(folder.said.size(), 1u);
  EXPECT_NE(folder.said[0].find("another user"), std::string::npos) << folder.said[0];
}

TEST(Store, AFolderWithinThatOthersCanWriteIsRefused) {
  CacheFolder folder;
  CountingMaker maker("x");
  obtain(folder, "x", maker);
  fs::permissions(folder.path() + "/stamp", fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(obtain(folder, "x", maker), contentOf("x"));
  EXPECT_EQ(maker.calls, 2);
  ASSERT_EQ(folder.said.size(), 1u);
  EXPECT_NE(folder.said[0].find("others can write '" + folder.path() + "/stamp'"), std::string::npos) << folder.said[0];
}

TEST(Store, AFolderThatLacksAPartIsCompleted) {
  CacheFolder folder;
  CountingMaker maker("x");
  obtain(folder, "x", maker);
  fs::remove_all(folder.path() + "/model");
  EXPECT_EQ(obtain(folder, "x", maker), contentOf("x"));
  EXPECT_TRUE(Store(folder.settings()).obtain(requestOf("x"), maker.get()).wasKept());
  EXPECT_TRUE(folder.said.empty());
}

TEST(Store, IngredientsMayBeAnyBytes) {
  CacheFolder folder;
  CountingMaker one("one"), other("other");
  std::string name = "caf\xe9", another = "caf\xe8";
  obtain(folder, name, one);
  EXPECT_TRUE(Store(folder.settings()).obtain(requestOf(name), one.get()).wasKept());
  EXPECT_FALSE(Store(folder.settings()).obtain(requestOf(another), other.get()).wasKept());
  EXPECT_TRUE(folder.said.empty());
}

TEST(Store, AnEntryThatOthersCouldHaveWrittenIsRefused) {
  CacheFolder folder;
  CountingMaker maker("x");
  obtain(folder, "x", maker);
  fs::permissions(folder.entry(requestOf("x")), fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(obtain(folder, "x", maker), contentOf("x"));
  EXPECT_EQ(maker.calls, 2);
}

TEST(Store, NoFolderCanBeMade) {
  CacheFolder folder;
  writeText(folder.path(), "a file, not a folder");
  CountingMaker maker("x");
  EXPECT_EQ(obtain(folder, "x", maker), contentOf("x"));
  EXPECT_EQ(folder.said.size(), 1u);
}

TEST(Store, OffAndReadOnlyLeaveTheFolderAlone) {
  CacheFolder folder;
  CountingMaker maker("x"), kept("kept");
  Settings off = folder.settings(), readOnly = folder.settings();
  off.mode = Mode::Off;
  readOnly.mode = Mode::ReadOnly;
  EXPECT_EQ(Store(off).obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
  EXPECT_EQ(Store(readOnly).obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
  EXPECT_FALSE(fs::exists(folder.path()));
  EXPECT_EQ(maker.calls, 2);

  obtain(folder, "kept", kept);
  auto listing = [&] {
    std::set<std::pair<std::string, fs::file_time_type>> all;
    for (const auto &file : fs::recursive_directory_iterator(folder.path()))
      all.emplace(file.path(), file.last_write_time());
    return all;
  };
  auto before = listing();
  EXPECT_TRUE(Store(readOnly).obtain(requestOf("kept"), kept.get()).wasKept());
  EXPECT_FALSE(Store(readOnly).obtain(requestOf("x"), maker.get()).wasKept());
  EXPECT_EQ(listing(), before);
  EXPECT_TRUE(folder.said.empty());
}

TEST(Store, AModelThatChangesWhileItIsCompiledIsNotKept) {
  CacheFolder folder;
  CountingMaker maker("x");
  Request request = requestOf("x");
  request.stillHolds = [] { return false; };
  EXPECT_EQ(Store(folder.settings()).obtain(request, maker.get()).payload(), contentOf("x"));
  EXPECT_EQ(obtain(folder, "x", maker), contentOf("x"));
  EXPECT_EQ(maker.calls, 2);
}

TEST(Eviction, TheLeastRecentlyUsedGoesFirst) {
  CacheFolder folder;
  Settings settings = folder.settings();
  settings.maxBytes = 3 * contentOf("a").size() + 2000;
  for (std::string text : {"a", "b", "c"}) {
    CountingMaker maker(text);
    Store(settings).obtain(requestOf(text), maker.get());
    // What was made a while ago, in this order.
    std::string age = text == "a" ? "30" : text == "b" ? "20" : "10";
    fs::last_write_time(folder.entry(requestOf(text)),
                        fs::file_time_type::clock::now() - std::chrono::seconds(std::stoi(age)));
  }
  // The stamp of "a" says that it was used just now.
  writeText(folder.path() + "/stamp/model-" + requestOf("a").ingredients.key(), "");
  CountingMaker maker("d");
  Store store(settings);
  store.obtain(requestOf("d"), maker.get());
  EXPECT_EQ(store.counters().at("evicted"), 1u);
  EXPECT_FALSE(fs::exists(folder.entry(requestOf("b"))));
  for (std::string text : {"a", "c", "d"})
    EXPECT_TRUE(fs::exists(folder.entry(requestOf(text)))) << text;
}

TEST(Eviction, WhatIsOpenStays) {
  CacheFolder folder;
  CountingMaker one("one"), two("two");
  Settings settings = folder.settings();
  Entry open = Store(settings).obtain(requestOf("one"), one.get());
  settings.maxBytes = contentOf("two").size() + 2000;
  Store(settings).obtain(requestOf("two"), two.get());
  EXPECT_TRUE(fs::exists(folder.entry(requestOf("one"))));
  open = Entry();
  Entry found = Store(settings).obtain(requestOf("one"), one.get());
  Folder opened(FileSystem::system(), folder.path(), true);
  EXPECT_EQ(evict(opened, 0), 1u) << "all but the open one";
  EXPECT_EQ(listEntries(opened).size(), 1u);
  EXPECT_EQ(found.payload(), contentOf("one"));
  writeText(folder.path() + "/stamp/file-1", "");
  forgetStamps(opened, std::chrono::hours(1));
  EXPECT_FALSE(fs::is_empty(folder.path() + "/stamp"));
  forgetStamps(opened, std::chrono::hours(0));
  EXPECT_TRUE(fs::is_empty(folder.path() + "/stamp"));
}

TEST(Eviction, WhatIsTooLargeIsNotKept) {
  CacheFolder folder;
  CountingMaker maker("x");
  Settings settings = folder.settings();
  settings.maxBytes = 100;
  EXPECT_EQ(Store(settings).obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
  EXPECT_FALSE(fs::exists(folder.entry(requestOf("x"))));
  ASSERT_EQ(folder.said.size(), 1u);
  EXPECT_NE(folder.said[0].find("larger than FREESTONE_CACHE_SIZE"), std::string::npos);
}

TEST(Folder, WhatDeadProcessesLeftIsSwept) {
  CacheFolder folder;
  Folder opened(FileSystem::system(), folder.path(), true);
  StagingFolder alive(opened);
  fs::create_directory(folder.path() + "/new/dead");
  writeText(folder.path() + "/new/dead/made", "half");
  for (const auto &file : fs::directory_iterator(folder.path() + "/new"))
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  for (std::string lock : {"dead", "begun"})
    writeText(folder.path() + "/lock/" + lock, "");
  fs::last_write_time(folder.path() + "/lock/dead", fs::file_time_type::clock::now() - std::chrono::hours(2));
  opened.sweep();
  EXPECT_FALSE(fs::exists(folder.path() + "/lock/dead"));
  EXPECT_TRUE(fs::exists(folder.path() + "/lock/begun"));
  EXPECT_FALSE(fs::exists(folder.path() + "/new/dead"));
  EXPECT_TRUE(fs::exists(folder.path() + "/" + alive.name()));
}

TEST(KeyLock, ALockWithoutALifeSignIsIgnoredAfterAWhile) {
  CacheFolder folder;
  Folder opened(FileSystem::system(), folder.path(), true);
  // As after the death of a machine that its server has not noticed: locked, and never touched.
  int dead = open((folder.path() + "/lock/k").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(flock(dead, LOCK_EX), 0);
  auto begin = std::chrono::steady_clock::now();
  KeyLock lock(opened, "k", std::chrono::milliseconds(300));
  auto waited = std::chrono::steady_clock::now() - begin;
  EXPECT_FALSE(lock.isHeld());
  EXPECT_TRUE(lock.hasWaited());
  EXPECT_GE(waited, std::chrono::milliseconds(300));
  close(dead);
}

TEST(KeyLock, TheTimeThatADeadMachineIsWaitedForIsTheOneThatIsStated) {
  // Documented in docs/cache.md.
  EXPECT_EQ(Settings().lockTimeout, std::chrono::seconds(15));
  // Only the kernel's lock is left; the file's time is meaningless, since that machine's clock may have been wrong.
  CacheFolder folder;
  CountingMaker maker("x");
  Settings settings = folder.settings();
  settings.lockTimeout = std::chrono::milliseconds(300);
  Store store(settings);
  std::string name = folder.path() + "/lock/" + requestOf("x").ingredients.key();
  int dead = open(name.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(flock(dead, LOCK_EX), 0);
  fs::last_write_time(name, fs::file_time_type::clock::now() + std::chrono::hours(5));
  EXPECT_EQ(store.obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
  EXPECT_EQ(maker.calls, 1);
  EXPECT_EQ(store.counters().at("waits"), 1u);
  EXPECT_TRUE(Store(settings).obtain(requestOf("x"), maker.get()).wasKept()) << "and it was kept all the same";
  close(dead);
}

TEST(KeyLock, ALivingHolderIsWaitedForLongerThanThat) {
  CacheFolder folder;
  Folder opened(FileSystem::system(), folder.path(), true);
  // Five heartbeats within the timeout: some may be late on a busy machine.
  constexpr auto timeout = std::chrono::seconds(1);
  auto holder = std::make_unique<KeyLock>(opened, "k", timeout);
  ASSERT_TRUE(holder->isHeld());
  std::thread release([&] {
    std::this_thread::sleep_for(2 * timeout);
    holder.reset();
  });
  KeyLock lock(opened, "k", timeout);
  EXPECT_TRUE(lock.isHeld());
  release.join();
}

TEST(Store, WhatHasNotChangedIsNotReadAgain) {
  struct CountingMaps : FileSystem {
    void *map(int file, size_t bytes) override {
      ++count;
      return FileSystem::map(file, bytes);
    }
    int count = 0;
  } system;
  CacheFolder folder;
  CountingMaker maker("x");
  {
    Store(folder.settings(), system).obtain(requestOf("x"), maker.get());
  }
  auto hit = [&] {
    system.count = 0;
    Store(folder.settings(), system).obtain(requestOf("x"), maker.get());
    return system.count;
  };
  EXPECT_EQ(hit(), 1) << "it was written just now, so that another change might not show";
  std::this_thread::sleep_for(std::chrono::milliseconds(3100));
  EXPECT_EQ(hit(), 1);
  EXPECT_EQ(hit(), 0) << "it is known now";
  std::fstream file(folder.entry(requestOf("x")), std::ios::in | std::ios::out | std::ios::binary);
  auto time = fs::last_write_time(folder.entry(requestOf("x")));
  file.seekp(5000).put('!').flush();
  fs::last_write_time(folder.entry(requestOf("x")), time);
  EXPECT_EQ(Store(folder.settings()).obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
  EXPECT_EQ(maker.calls, 2) << "a change shows even if its time was set back";
}
