#ifndef FREESTONE_CACHE_FILESYSTEM_H
#define FREESTONE_CACHE_FILESYSTEM_H

#include <cstddef>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace freestone::cache {

/// The calls to the operating system that the cache makes, with its conventions (-1 or null, and errno). Tests make
/// each of them fail. Folders are descriptors, so that what was found to be trustworthy can't be swapped behind our
/// back.
class FileSystem {
public:
  virtual ~FileSystem() = default;
  static FileSystem &system();

  virtual int open(int folder, const char *name, int flags, mode_t mode);
  /// A new file for reading and writing; its name in `folder` is gone again.
  virtual int openUnnamed(const char *folder);
  virtual int openInMemory();
  virtual int status(int file, struct stat *status);
  virtual int statusAt(int folder, const char *name, struct stat *status);
  virtual ssize_t read(int file, void *data, size_t bytes, off_t offset);
  virtual ssize_t append(int file, const void *data, size_t bytes);
  virtual void *map(int file, size_t bytes);
  virtual int makeFolder(int folder, const char *name, mode_t mode);
  virtual int rename(int fromFolder, const char *from, int toFolder, const char *to);
  /// `flags` as of unlinkat.
  virtual int remove(int folder, const char *name, int flags);
  /// `operation` as of flock.
  virtual int lock(int file, int operation);
  /// Makes a file its owner's alone.
  virtual int protect(int file);
  /// Sets the times of last use and of last change to now.
  virtual int touch(int folder, const char *name);
  /// Takes over the descriptor.
  virtual DIR *list(int folder);
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_FILESYSTEM_H
