#ifndef FREESTONE_CACHE_FOLDER_H
#define FREESTONE_CACHE_FOLDER_H

#include "cache/File.h"
#include <string>
#include <string_view>

namespace freestone::cache {

/// The cache's folder, opened once. Write access to it, or to a folder within, decides which code runs, so folders of
/// other users, and folders that others can write, are refused. Names are relative: "model/<key>", "stamp/…", "lock/…",
/// "count/…", "machine/…"; unfinished files are in "new/…". Members throw FileError.
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
  /// False if there is no such file.
  bool status(const std::string &file, struct stat &status) const;
  /// False if there was none.
  bool remove(const std::string &file, int flags = 0) const;
  void rename(const std::string &from, const std::string &to) const;
  void touch(const std::string &file) const;
  std::vector<std::string> list(const std::string &folder) const { return listFolder(*fileSystem, root.get(), folder); }

  /// Writes a temporary file and renames it, so that no reader sees a part of it.
  void write(const std::string &file, std::string_view bytes) const;
  /// A unique name in "new/".
  static std::string unfinishedName();
  /// A path into this folder, valid in the whole process even if the folder is renamed.
  std::string pathOf(const std::string &file) const;
  /// Removes unfinished files and locks of dead processes.
  void sweep() const;

private:
  void sweepUnfinished(const std::string &unfinished) const;
  void sweepLock(const std::string &lock) const;

  FileSystem *fileSystem;
  std::string name;
  bool writable;
  File root;
};

/// A folder in "new/" in which one entry is made; removed with the object, or swept after the death of its process.
class StagingFolder {
public:
  explicit StagingFolder(const Folder &folder);
  StagingFolder(const StagingFolder &) = delete;
  StagingFolder &operator=(const StagingFolder &) = delete;
  ~StagingFolder();
  /// Relative to the cache's folder.
  const std::string &name() const { return own; }

private:
  const Folder &folder;
  std::string own;
  File handle;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_FOLDER_H
