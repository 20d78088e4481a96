#include "cache/FileSystem.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace freestone::cache;

FileSystem &FileSystem::system() {
  static FileSystem instance;
  return instance;
}

int FileSystem::open(int folder, const char *name, int flags, mode_t mode) {
  return openat(folder, name, flags | O_CLOEXEC, mode);
}
int FileSystem::openUnnamed(const char *folder) {
  std::string name = std::string(folder) + "/freestone.XXXXXX";
  int file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0)
    unlink(name.c_str());
  return file;
}
int FileSystem::openInMemory() { return memfd_create("freestone", MFD_CLOEXEC); }
int FileSystem::status(int file, struct stat *status) { return fstat(file, status); }
int FileSystem::statusAt(int folder, const char *name, struct stat *status) {
  return fstatat(folder, name, status, AT_SYMLINK_NOFOLLOW);
}
ssize_t FileSystem::read(int file, void *data, size_t bytes, off_t offset) { return pread(file, data, bytes, offset); }
ssize_t FileSystem::append(int file, const void *data, size_t bytes) { return write(file, data, bytes); }
void *FileSystem::map(int file, size_t bytes) {
  void *address = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  return address == MAP_FAILED ? nullptr : address;
}
int FileSystem::makeFolder(int folder, const char *name, mode_t mode) { return mkdirat(folder, name, mode); }
int FileSystem::rename(int fromFolder, const char *from, int toFolder, const char *to) {
  return renameat(fromFolder, from, toFolder, to);
}
int FileSystem::remove(int folder, const char *name, int flags) { return unlinkat(folder, name, flags); }
int FileSystem::lock(int file, int operation) { return flock(file, operation); }
int FileSystem::protect(int file) { return fchmod(file, 0600); }
int FileSystem::touch(int folder, const char *name) { return utimensat(folder, name, nullptr, AT_SYMLINK_NOFOLLOW); }
DIR *FileSystem::list(int folder) { return fdopendir(folder); }
