// Every call to the operating system fails once, in every way that matters; the result is right all the same.

#include "cache/Eviction.h"
#include "test/cache/CacheFolder.h"
#include <atomic>
#include <cerrno>
#include <fcntl.h>

using namespace freestone::cache;
using namespace freestone::test;

namespace {

/// Fails the call of a number.
class FaultyFileSystem : public FileSystem {
public:
  FaultyFileSystem(int number, int error) : number(number), error(error) {}
  bool hasFailed() const { return calls > number; }

  int open(int folder, const char *name, int flags, mode_t mode) override {
    return fails() ? -1 : FileSystem::open(folder, name, flags, mode);
  }
  int status(int file, struct stat *status) override { return fails() ? -1 : FileSystem::status(file, status); }
  int statusAt(int folder, const char *name, struct stat *status) override {
    return fails() ? -1 : FileSystem::statusAt(folder, name, status);
  }
  ssize_t read(int file, void *data, size_t bytes, off_t offset) override {
    return fails() ? -1 : FileSystem::read(file, data, bytes, offset);
  }
  ssize_t append(int file, const void *data, size_t bytes) override {
    // A full disk takes a part first.
    return fails() ? (error == ENOSPC && bytes > 1 ? FileSystem::append(file, data, bytes / 2), -1 : -1)
                   : FileSystem::append(file, data, bytes);
  }
  void *map(int file, size_t bytes) override { return fails() ? nullptr : FileSystem::map(file, bytes); }
  int makeFolder(int folder, const char *name, mode_t mode) override {
    return fails() ? -1 : FileSystem::makeFolder(folder, name, mode);
  }
  int rename(int fromFolder, const char *from, int toFolder, const char *to) override {
    return fails() ? -1 : FileSystem::rename(fromFolder, from, toFolder, to);
  }
  int remove(int folder, const char *name, int flags) override {
    return fails() ? -1 : FileSystem::remove(folder, name, flags);
  }
  int lock(int file, int operation) override { return fails() ? -1 : FileSystem::lock(file, operation); }
  int protect(int file) override { return fails() ? -1 : FileSystem::protect(file); }
  int touch(int folder, const char *name) override { return fails() ? -1 : FileSystem::touch(folder, name); }
  DIR *list(int folder) override { return fails() ? nullptr : FileSystem::list(folder); }

private:
  bool fails() {
    if (calls++ != number)
      return false;
    errno = error;
    return true;
  }

  const int number, error;
  std::atomic<int> calls = 0; ///< also of the thread that shows the life of a lock, when the rest takes long
};

} // namespace

/// What two processes do one after another, the first with a full store.
static void useStore(CacheFolder &folder, FileSystem &system) {
  Settings settings = folder.settings();
  settings.maxBytes = 2 * contentOf("old").size();
  settings.patience = std::chrono::milliseconds(100);
  CountingMaker maker("x"), again("x");
  {
    Store store(settings, system);
    Entry entry = store.obtain(requestOf("x"), maker.get());
    ASSERT_EQ(entry.payload(), contentOf("x"));
    ASSERT_EQ(entry.about(), "made x");
    ASSERT_LE(maker.calls, 2);
    Ingredients small;
    small.add("program", "p");
    store.keep(Kind::Program, small, "small", "");
    ASSERT_EQ(store.find(Kind::Program, small).value_or("small"), "small");
  }
  Store store(settings, system);
  ASSERT_EQ(store.obtain(requestOf("x"), again.get()).payload(), contentOf("x"));
}

TEST(Fault, EachCallFailsOnce) {
  for (int error : {EIO, ENOSPC, ENOENT, EWOULDBLOCK, ENOLCK}) {
    int number = 0;
    for (bool isDone = false; !isDone; ++number) {
      SCOPED_TRACE("call " + std::to_string(number) + " fails with " + std::to_string(error));
      CacheFolder folder;
      CountingMaker old("old");
      {
        Store(folder.settings()).obtain(requestOf("old"), old.get());
      }
      FaultyFileSystem system(number, error);
      try {
        useStore(folder, system);
      } catch (const FileError &escaped) {
        // Entry::payload is a read of the caller's own.
        ASSERT_TRUE(std::string(escaped.what()).starts_with("can't read a file")) << escaped.what();
      }
      if (HasFatalFailure())
        return;
      ASSERT_LE(folder.said.size(), 2u) << "one warning a process";
      // Whatever is left behind serves the next process, or is found out.
      CountingMaker maker("x");
      folder.said.clear();
      ASSERT_EQ(Store(folder.settings()).obtain(requestOf("x"), maker.get()).payload(), contentOf("x"));
      for (const EntryFile &file : listEntries(Folder(FileSystem::system(), folder.path(), false)))
        EntryReader(Folder(FileSystem::system(), folder.path(), false)).open(file.kind, file.key, Check::Everything);
      isDone = !system.hasFailed();
    }
    EXPECT_GT(number, 50) << "the calls are counted";
  }
}

namespace {

/// A folder that became read-only after it was opened.
struct NoWriting : FileSystem {
  int open(int folder, const char *name, int flags, mode_t mode) override {
    if ((flags & O_ACCMODE) == O_RDONLY)
      return FileSystem::open(folder, name, flags, mode);
    errno = EROFS;
    return -1;
  }
  int makeFolder(int, const char *, mode_t) override {
    errno = EROFS;
    return -1;
  }
};

} // namespace

TEST(Fault, AFolderWithoutLocksServes) {
  CacheFolder folder;
  NoLocks system;
  CountingMaker maker("x");
  {
    Store(folder.settings(), system).obtain(requestOf("x"), maker.get());
  }
  EXPECT_TRUE(Store(folder.settings(), system).obtain(requestOf("x"), maker.get()).wasKept());
  EXPECT_TRUE(folder.said.empty());
  EXPECT_EQ(evict(Folder(system, folder.path(), true), 0), 1u);
}

TEST(Fault, AReadOnlyFolderServesWhatItHas) {
  CacheFolder folder;
  CountingMaker kept("kept"), other("other");
  {
    Store(folder.settings()).obtain(requestOf("kept"), kept.get());
  }
  NoWriting system;
  Store store(folder.settings(), system);
  EXPECT_TRUE(store.obtain(requestOf("kept"), kept.get()).wasKept());
  EXPECT_TRUE(folder.said.empty());
  EXPECT_EQ(store.obtain(requestOf("other"), other.get()).payload(), contentOf("other"));
  EXPECT_EQ(store.obtain(requestOf("other"), other.get()).payload(), contentOf("other"));
  EXPECT_EQ(folder.said.size(), 1u);
}
