#ifndef FREESTONE_CACHE_FOLDER_H
#define FREESTONE_CACHE_FOLDER_H

#include "cache/File.h"
#include <string>
#include <string_view>

namespace freestone::cache {

/// The cache's folder, opened once. Whoever can write it, or a folder within, decides what code runs, so those of
/// another user, and those that others can write, are refused. Names are relative: "model/<key>", "stamp/…", "lock/…",
/// "count/…"; "new/…" is what is not finished. Members throw FileError.
class Folder {
public:
  /// Makes the folder, and the folders within, if `mayWrite`.
  Folder(FileSystem &system, const std::string &path, bool mayWrite);

  FileSystem &system() const { return *fileSystem; }
  const std::string &path() const { return name; }
  bool mayWrite() const { return writable; }

  File open(const std::string &file, int flags, mode_t mode = 0600) const {
    return File(*fileSystem, root.get(), file, flags, mode);
  }
  /// Nothing where there is no such file.
  bool status(const std::string &file, struct stat &status) const;
  /// False where there was none.
  bool remove(const std::string &file, int flags = 0) const;
  void rename(const std::string &from, const std::string &to) const;
  void touch(const std::string &file) const;
  std::vector<std::string> list(const std::string &folder) const { return listFolder(*fileSystem, root.get(), folder); }

  /// Writes a file beside its place and renames it, so that nobody ever sees a part of it.
  void write(const std::string &file, std::string_view bytes) const;
  /// A name in "new/" that nobody else uses.
  static std::string unfinishedName();
  /// A path that the whole process can use, and that leads into this folder whatever becomes of its name.
  std::string pathOf(const std::string &file) const;
  /// Removes what processes left when they died: what was unfinished, and the files of their locks.
  void sweep() const;

private:
  void sweepUnfinished(const std::string &unfinished) const;
  void sweepLock(const std::string &lock) const;

  FileSystem *fileSystem;
  std::string name;
  bool writable;
  File root;
};

/// A folder of its own in "new/" where one entry is made; gone with the object, and swept once its process is dead.
class Workshop {
public:
  explicit Workshop(const Folder &folder);
  Workshop(const Workshop &) = delete;
  Workshop &operator=(const Workshop &) = delete;
  ~Workshop();
  /// Relative to the cache's folder.
  const std::string &name() const { return own; }

private:
  const Folder &folder;
  std::string own;
  File handle;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_FOLDER_H
