// A process that waits for another reports it.

#include "test/cache/CacheFolder.h"
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace freestone::cache;
using namespace freestone::test;

namespace {

/// Another process with the turn to make an entry: holds the kernel's lock on its file.
class OtherProcess {
public:
  OtherProcess(const CacheFolder &folder, const Ingredients &ingredients)
      : file(open((folder.path() + "/lock/" + ingredients.key()).c_str(), O_RDWR | O_CREAT, 0600)) {
    EXPECT_EQ(flock(file, LOCK_EX), 0);
  }
  ~OtherProcess() { close(file); }
  OtherProcess(const OtherProcess &) = delete;
  OtherProcess &operator=(const OtherProcess &) = delete;

private:
  int file;
};

} // namespace

TEST(Wait, IsToldOnceAndBeforeItEnds) {
  CacheFolder folder;
  CountingMaker maker("x");
  Settings settings = folder.settings();
  std::unique_ptr<OtherProcess> other;
  int waits = 0;
  // The other process finishes as soon as somebody waits.
  settings.onWait = [&] {
    ++waits;
    other.reset();
  };
  Store store(settings);
  other = std::make_unique<OtherProcess>(folder, requestOf("x").ingredients);
  EXPECT_EQ(store.obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(store.counters().at("waits"), 1u);

  Ingredients code = requestOf("code").ingredients;
  other = std::make_unique<OtherProcess>(folder, code);
  Claim claim = store.claim(Kind::Code, code);
  EXPECT_TRUE(claim.turn->isHeld());
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(store.counters().at("waits"), 2u);
  EXPECT_TRUE(folder.said.empty());
}

TEST(Wait, IsNotToldWhereNobodyIsWaitedFor) {
  CacheFolder folder;
  CountingMaker maker("x");
  Settings settings = folder.settings();
  settings.onWait = [] { ADD_FAILURE(); };
  Store(settings).obtain(requestOf("x"), maker.get());
  Store(settings).obtain(requestOf("x"), maker.get());
  Store(settings).claim(Kind::Code, requestOf("y").ingredients);
  NoLocks system;
  Store(settings, system).obtain(requestOf("z"), maker.get());
  Settings readOnly = settings;
  readOnly.mode = Mode::ReadOnly;
  Store store(readOnly);
  OtherProcess other(folder, requestOf("w").ingredients);
  store.obtain(requestOf("w"), maker.get());
  EXPECT_EQ(maker.calls, 3);
}

TEST(Wait, IsToldWhereTheOtherShowsNoLife) {
  CacheFolder folder;
  CountingMaker maker("x");
  Settings settings = folder.settings();
  settings.lockTimeout = std::chrono::milliseconds(100);
  int waits = 0;
  settings.onWait = [&] { ++waits; };
  Store store(settings);
  OtherProcess other(folder, requestOf("x").ingredients);
  EXPECT_EQ(store.obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
  EXPECT_EQ(waits, 1);
}
