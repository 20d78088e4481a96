// Every call to the operating system fails once, with every relevant error; results must be right.

#include "cache/CompilerIdentity.h"
#include "cache/Eviction.h"
#include "cache/Explanation.h"
#include "cache/MachineRates.h"
#include "cache/ModelRequest.h"
#include "test/cache/CacheFolder.h"
#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <fcntl.h>

using namespace freestone::cache;
using namespace freestone::test;

namespace {

/// Fails the n-th call.
class FaultyFileSystem : public FileSystem {
public:
  FaultyFileSystem(int number, int error) : number(number), error(error) {}
  bool hasFailed() const { return calls > number; }

  int open(int folder, const char *name, int flags, mode_t mode) override {
    return fails() ? -1 : FileSystem::open(folder, name, flags, mode);
  }
  int openUnnamed(const char *folder) override { return fails() ? -1 : FileSystem::openUnnamed(folder); }
  int openInMemory() override { return fails() ? -1 : FileSystem::openInMemory(); }
  int status(int file, struct stat *status) override { return fails() ? -1 : FileSystem::status(file, status); }
  int statusAt(int folder, const char *name, struct stat *status) override {
    return fails() ? -1 : FileSystem::statusAt(folder, name, status);
  }
  ssize_t read(int file, void *data, size_t bytes, off_t offset) override {
    return fails() ? -1 : FileSystem::read(file, data, bytes, offset);
  }
  ssize_t append(int file, const void *data, size_t bytes) override {
    // A full disk accepts a part first.
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
  std::atomic<int> calls = 0; ///< includes calls by the lock's heartbeat thread, if the rest takes long
};

} // namespace

/// The operations of two consecutive processes, the first with a full store.
static void useStore(CacheFolder &folder, FileSystem &system) {
  Settings settings = folder.settings();
  settings.maxBytes = 2 * contentOf("old").size();
  settings.lockTimeout = std::chrono::milliseconds(100);
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

namespace {

/// A model with external weights.
std::string writeModel(const CacheFolder &folder) {
  // ModelProto.graph.initializer.external_data: location = "w.bin".
  std::string pair = "\x0a\x08location\x12\x05w.bin";
  std::string tensor = "\x6a" + std::string(1, char(pair.size())) + pair;
  std::string graph = "\x2a" + std::string(1, char(tensor.size())) + tensor;
  writeText(folder / "m.onnx", "\x3a" + std::string(1, char(graph.size())) + graph);
  writeText(folder / "w.bin", "weights");
  return folder / "m.onnx";
}

ModelOptions optionsOf(const std::string &path) {
  ModelOptions options;
  options.path = path;
  return options;
}

Ingredients codeIngredients() {
  Ingredients ingredients;
  ingredients.add("module", "m");
  return ingredients;
}

} // namespace

/// From a model's file to the cached code.
static void compileModel(CacheFolder &folder, FileSystem &system, const std::string &model, const Request &right,
                         const std::string &build) {
  Settings settings = folder.settings();
  settings.lockTimeout = std::chrono::milliseconds(100);
  std::vector<std::string> explained;
  settings.explain = [&](const std::string &text) { explained.push_back(text); };
  Store store(settings, system);
  std::string found = store.folder() ? CompilerIdentity::find(*store.folder(), [] {}) : build;
  ASSERT_TRUE(found == build || found.empty()) << found;
  std::optional<Request> request = requestModel(store, Kind::Model, optionsOf(model), found);
  CountingMaker maker("x");
  auto make = [&](const std::string &path) {
    Claim claim = store.claim(Kind::Code, codeIngredients());
    EXPECT_EQ(claim.payload.value_or("code"), "code");
    if (!claim.payload)
      store.keep(Kind::Code, codeIngredients(), "code", "about");
    return maker.get()(path);
  };
  if (request) {
    ASSERT_EQ(request->ingredients.key(), right.ingredients.key()) << "a key is right, or there is none";
    ASSERT_EQ(store.obtain(*request, make).payload(), contentOf("x"));
    if (store.folder())
      ASSERT_FALSE(explainMiss(*store.folder(), Kind::Model, codeIngredients()).empty());
  } else {
    ASSERT_EQ(Store::makeUnkept(make, system).payload(), contentOf("x"));
  }
  // They may be too small, never too large.
  for (const auto &[name, total] : store.totals())
    ASSERT_LE(total, 10u) << name;
}

TEST(Fault, EachCallFailsOnceOnTheWayOfAModel) {
  ASSERT_TRUE(dlopen(FREESTONE_STUB_COMPILER, RTLD_NOW)) << dlerror();
  CacheFolder plain(CacheFolder::fast());
  Store reference(plain.settings());
  std::string build = CompilerIdentity::read(*reference.folder());
  ASSERT_FALSE(build.empty());
  for (int error : {EIO, ENOSPC, ENOENT, EWOULDBLOCK, ENOLCK}) {
    int number = 0;
    for (bool isDone = false; !isDone; ++number) {
      SCOPED_TRACE("call " + std::to_string(number) + " fails with " + std::to_string(error));
      CacheFolder folder(CacheFolder::fast());
      std::string model = writeModel(folder);
      Request right = *requestModel(reference, Kind::Model, optionsOf(model), build);
      FaultyFileSystem system(number, error);
      try {
        // With an empty cache, then with a filled one.
        for (int turn = 0; turn < 2 && !HasFatalFailure(); ++turn)
          compileModel(folder, system, model, right, build);
      } catch (const FileError &escaped) {
        ASSERT_TRUE(std::string(escaped.what()).starts_with("can't read a file")) << escaped.what();
      }
      if (HasFatalFailure())
        return;
      ASSERT_LE(folder.said.size(), 2u) << "one warning a process";
      // Leftovers must be usable by the next process, or be detected.
      folder.said.clear();
      compileModel(folder, FileSystem::system(), model, right, build);
      if (HasFatalFailure())
        return;
      isDone = !system.hasFailed();
    }
    EXPECT_GT(number, 100) << "the calls are counted";
  }
}

TEST(Fault, EachCallFailsOnceOnTheWayOfTheRates) {
  for (int error : {EIO, ENOSPC, ENOENT, EWOULDBLOCK, ENOLCK}) {
    int number = 0;
    for (bool isDone = false; !isDone; ++number) {
      SCOPED_TRACE("call " + std::to_string(number) + " fails with " + std::to_string(error));
      CacheFolder folder(CacheFolder::fast());
      FaultyFileSystem system(number, error);
      Settings settings = folder.settings();
      settings.lockTimeout = std::chrono::milliseconds(100);
      auto measure = [] { return std::string("rates"); };
      for (int turn = 0; turn < 2; ++turn) {
        folder.said.clear();
        std::string text = MachineRates::find(settings, measure, system).text;
        ASSERT_TRUE(text == "rates" || (text.empty() && folder.said.size() == 1)) << text;
      }
      ASSERT_EQ(MachineRates::find(settings, measure).text, "rates");
      isDone = !system.hasFailed();
    }
    EXPECT_GT(number, 20) << "the calls are counted";
  }
}

TEST(Fault, EachCallFailsOnce) {
  for (int error : {EIO, ENOSPC, ENOENT, EWOULDBLOCK, ENOLCK}) {
    int number = 0;
    for (bool isDone = false; !isDone; ++number) {
      SCOPED_TRACE("call " + std::to_string(number) + " fails with " + std::to_string(error));
      CacheFolder folder(CacheFolder::fast());
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
      // Leftovers must be usable by the next process, or be detected.
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

/// A folder that became read-only after opening.
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
