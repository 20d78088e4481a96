#ifndef FREESTONE_RUNTIME_PLATFORM_FILE_H
#define FREESTONE_RUNTIME_PLATFORM_FILE_H

#include "runtime/Status.h"
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace freestone::runtime::platform {

/// A regular file, mapped read-only, in small pages: of what is read once, or in parts, little is in memory.
class MappedFile {
public:
  static Result<MappedFile> open(const std::string &path);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Asks for huge pages, whose addresses are translated faster: for what is read again and again.
  void useHugePages() const;
  /// Drops its pages from memory; they are read again on access.
  void release() const;

  std::span<const uint8_t> bytes() const { return {address, size}; }

private:
  const uint8_t *address = nullptr;
  size_t size = 0;
};

/// Writes the pieces to a temporary file in the folder of `path`, then renames it, so that no reader sees a partial
/// file. Devices, pipes and open files without a name (`/proc/self/fd/N`) are written in place. Errors: Io.
Status writeFileAtomically(const std::string &path, std::span<const std::span<const uint8_t>> pieces);

/// A nameless file in the folder of `path`, open for writing and reading, deleted with the process. Null, with the
/// reason in errno, on failure.
std::FILE *openUnnamedFile(const std::string &path);

/// The contents of a small text file; empty if it can't be read.
std::string readSmallFile(const std::string &path);

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_FILE_H
