#include "train/checkpoint/Durable.h"
#include "train/Error.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace freestone::train {

static Error failure(const char *what, const std::string &path) {
  return Error(fmt::format("can't {} '{}': {}", what, path, std::strerror(errno)));
}

struct Checksum::State {
  XXH3_state_t xxh3;
};

Checksum::Checksum() : state(new State) { XXH3_128bits_reset(&state->xxh3); }
Checksum::~Checksum() = default;

void Checksum::add(formats::Bytes bytes) { XXH3_128bits_update(&state->xxh3, bytes.data(), bytes.size()); }

static std::string digits(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

std::string Checksum::text() const { return digits(XXH3_128bits_digest(&state->xxh3)); }

std::string checksumOf(formats::Bytes bytes) { return digits(XXH3_128bits(bytes.data(), bytes.size())); }

DurableFile::DurableFile(std::string name) : path(std::move(name)) {
  file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0)
    throw failure("create", path);
}

DurableFile::~DurableFile() {
  if (file >= 0)
    close(file);
}

void DurableFile::write(formats::Bytes bytes) {
  sum.add(bytes);
  written += bytes.size();
  while (!bytes.empty()) {
    ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      throw failure("write", path);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void DurableFile::finish() {
  if (fsync(file) != 0)
    throw failure("write", path);
  int closed = close(file);
  file = -1;
  if (closed != 0)
    throw failure("write", path);
}

void syncFolder(const std::string &path) {
  int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    throw failure("open", path);
  // Some file systems sync entries by themselves and refuse to sync folders.
  bool failed = fsync(folder) != 0 && errno != EINVAL;
  int reason = errno;
  close(folder);
  errno = reason;
  if (failed)
    throw failure("sync", path);
}

void publishFolder(const std::string &from, const std::string &to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return;
  if (errno == EEXIST && renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return;
  // Without support for these flags, an old folder of that name is missing for a moment.
  if (errno != EINVAL)
    throw failure("write", to);
  std::string old = from + ".old";
  bool existed = rename(to.c_str(), old.c_str()) == 0;
  if (rename(from.c_str(), to.c_str()) != 0)
    throw failure("write", to);
  if (existed && rename(old.c_str(), from.c_str()) != 0)
    throw failure("rename", old);
}

} // namespace freestone::train
