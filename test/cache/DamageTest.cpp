#include "cache/Eviction.h"
#include "test/cache/CacheFolder.h"
#include <random>

using namespace freestone::cache;
using namespace freestone::test;

TEST(Damage, EveryFlippedByteIsDetected) {
  CacheFolder folder;
  CountingMaker maker("x");
  {
    Store(folder.settings()).obtain(requestOf("x"), maker.get());
  }
  std::string path = folder.entry(requestOf("x")), key = requestOf("x").ingredients.key(), right = readText(path);
  Folder opened(FileSystem::system(), folder.path(), true);
  EntryReader reader(opened);
  std::mt19937 random(1);
  auto isDetected = [&](const std::string &bytes) {
    writeText(path, bytes);
    try {
      reader.open(Kind::Model, key, Check::UnlessStamped);
      return false;
    } catch (const DamagedEntry &) {
      return true;
    }
  };
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = right;
    // Half of the positions are after the payload, in metadata and trailer.
    size_t begin = i % 2 ? contentOf("x").size() : 0, at = begin + random() % (right.size() - begin);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 + random() % 255));
    ASSERT_TRUE(isDetected(bytes)) << at;
  }
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(isDetected(right.substr(0, random() % right.size())));
  EXPECT_TRUE(isDetected(right + "more"));
  EXPECT_TRUE(isDetected(""));
  writeText(path, right);
  EXPECT_EQ(reader.open(Kind::Model, key, Check::UnlessStamped).payload(), contentOf("x"));
}

TEST(Damage, IsRepairedWithOneWarning) {
  CacheFolder folder;
  CountingMaker maker("x");
  {
    Store(folder.settings()).obtain(requestOf("x"), maker.get());
  }
  std::string path = folder.entry(requestOf("x"));
  std::string bytes = readText(path);
  bytes[100] ^= 1;
  writeText(path, bytes);
  Store store(folder.settings());
  EXPECT_EQ(store.obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
  EXPECT_EQ(maker.calls, 2);
  EXPECT_EQ(store.counters().at("rejected"), 1u);
  ASSERT_EQ(folder.said.size(), 1u);
  EXPECT_NE(folder.said[0].find("damaged"), std::string::npos);
  EXPECT_TRUE(Store(folder.settings()).obtain(requestOf("x"), maker.get()).wasKept());
}

TEST(Damage, AnEntryUnderAnothersNameIsRefused) {
  CacheFolder folder;
  CountingMaker one("one"), two("two");
  {
    Store(folder.settings()).obtain(requestOf("one"), one.get());
  }
  std::filesystem::copy_file(folder.entry(requestOf("one")), folder.entry(requestOf("two")));
  EXPECT_EQ(Store(folder.settings()).obtain(requestOf("two"), two.get()).payload(), contentOf("two"));
  EXPECT_EQ(two.calls, 1);
}
