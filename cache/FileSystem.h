#ifndef FREESTONE_CACHE_FILESYSTEM_H
#define FREESTONE_CACHE_FILESYSTEM_H

#include <cstddef>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace freestone::cache {

/// The cache's calls to the operating system, with its conventions (-1 or null, and errno); tests make each of them
/// fail. Folders are descriptors, so that a checked folder can't be swapped between check and use.
class FileSystem {
public:
  virtual ~FileSystem() = default;
  static FileSystem &system();

  virtual int open(int folder, const char *name, int flags, mode_t mode);
  /// A new file for reading and writing, unlinked from `folder`.
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
  /// Restricts access to the owner.
  virtual int protect(int file);
  /// Sets the times of access and modification to now.
  virtual int touch(int folder, const char *name);
  /// Takes ownership of the descriptor.
  virtual DIR *list(int folder);
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_FILESYSTEM_H
