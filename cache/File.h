#ifndef FREESTONE_CACHE_FILE_H
#define FREESTONE_CACHE_FILE_H

#include "cache/FileSystem.h"
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace freestone::cache {

/// A failed file operation. Handled within this folder: the store goes on without the cache.
struct FileError : std::runtime_error {
  /// Takes the reason from errno.
  explicit FileError(const std::string &what);
  /// Appends the operating system's name of `code`.
  FileError(const std::string &what, int code);
  /// A refusal by the cache itself: `sentence` is the whole message, `code` is for programs.
  static FileError refusal(const std::string &sentence, int code) { return {Whole(), sentence, code}; }
  int code;

private:
  struct Whole {};
  FileError(Whole, const std::string &sentence, int code) : std::runtime_error(sentence), code(code) {}
};

/// Identifies the contents of a file: changes with every write, replacement and rename.
struct FileIdentity {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t changedSeconds = 0, changedNanoseconds = 0;       ///< of the contents
  int64_t attributesSeconds = 0, attributesNanoseconds = 0; ///< of any attribute; can't be set back

  static FileIdentity of(const struct stat &status);
  bool operator==(const FileIdentity &) const = default;
  /// Whether a change from now on would be visible: clocks of file systems may have a resolution of two seconds.
  bool isSettled() const;
};

/// An open file or folder; owns the descriptor. Every member throws FileError.
class File {
public:
  File() = default;
  File(FileSystem &system, int folder, const std::string &name, int flags, mode_t mode = 0);
  /// A new file without a name, invisible to other processes and deleted with this one.
  static File unnamed(FileSystem &system, const std::string &folder);
  static File inMemory(FileSystem &system);
  File(File &&other) noexcept : system(other.system), descriptor(std::exchange(other.descriptor, -1)) {}
  File &operator=(File &&other) noexcept {
    std::swap(system, other.system);
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~File();

  int get() const { return descriptor; }
  explicit operator bool() const { return descriptor >= 0; }
  /// Valid in this process, while the file is open.
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }
  struct stat status() const;
  /// Exactly `bytes` bytes from `offset` on.
  std::string read(uint64_t offset, size_t bytes) const;
  void append(std::string_view bytes) const;
  void protect() const;
  /// Calls flock. False: another process has the lock. Throws where the file system has no locks.
  bool lock(int operation) const;

private:
  FileSystem *system = nullptr;
  int descriptor = -1;
};

/// The first `bytes` of a file, mapped read-only.
class Mapping {
public:
  Mapping(FileSystem &system, const File &file, size_t bytes);
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping();
  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t *>(address), size}; }

private:
  void *address = nullptr;
  size_t size;
};

/// The names in a folder, without "." and "..".
std::vector<std::string> listFolder(FileSystem &system, int folder, const std::string &name);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_FILE_H
