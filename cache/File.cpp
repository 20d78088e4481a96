#include "cache/File.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace freestone::cache;

FileError::FileError(const std::string &what) : FileError(what, errno) {}
FileError::FileError(const std::string &what, int code)
    : std::runtime_error(what + ": " + std::strerror(code)), code(code) {}

FileIdentity FileIdentity::of(const struct stat &status) {
  return {status.st_dev,         status.st_ino,          static_cast<uint64_t>(status.st_size),
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

bool FileIdentity::isSettled() const {
  constexpr int64_t coarsest = 2;
  return std::max(changedSeconds, attributesSeconds) + coarsest < std::time(nullptr);
}

File::File(FileSystem &system, int folder, const std::string &name, int flags, mode_t mode)
    : system(&system), descriptor(system.open(folder, name.c_str(), flags, mode)) {
  if (descriptor < 0)
    throw FileError("can't open '" + name + "'");
}

File File::unnamed(FileSystem &system, const std::string &folder) {
  File file;
  file.system = &system;
  file.descriptor = system.openUnnamed(folder.c_str());
  if (!file)
    throw FileError("can't make a file in '" + folder + "'");
  return file;
}

File File::inMemory(FileSystem &system) {
  File file;
  file.system = &system;
  file.descriptor = system.openInMemory();
  if (!file)
    throw FileError("can't make a file in memory");
  return file;
}

File::~File() {
  if (descriptor >= 0)
    close(descriptor);
}

struct stat File::status() const {
  struct stat status = {};
  if (system->status(descriptor, &status) != 0)
    throw FileError("can't look at a file");
  return status;
}

std::string File::read(uint64_t offset, size_t bytes) const {
  std::string data(bytes, '\0');
  for (size_t done = 0; done < bytes;) {
    ssize_t got = system->read(descriptor, data.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      throw FileError("can't read a file", got < 0 ? errno : EIO);
    done += static_cast<size_t>(got);
  }
  return data;
}

void File::append(std::string_view bytes) const {
  while (!bytes.empty()) {
    ssize_t written = system->append(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      throw FileError("can't write a file", written < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void File::protect() const {
  if (system->protect(descriptor) != 0)
    throw FileError("can't make a file private");
}

bool File::lock(int operation) const {
  while (system->lock(descriptor, operation) != 0) {
    if (errno == EWOULDBLOCK)
      return false;
    if (errno != EINTR)
      throw FileError("can't lock a file");
  }
  return true;
}

Mapping::Mapping(FileSystem &system, const File &file, size_t bytes) : size(bytes) {
  if (bytes > 0 && !(address = system.map(file.get(), bytes)))
    throw FileError("can't map a file");
}

Mapping::~Mapping() {
  if (address)
    munmap(address, size);
}

std::vector<std::string> freestone::cache::listFolder(FileSystem &system, int folder, const std::string &name) {
  int descriptor = system.open(folder, name.c_str(), O_RDONLY | O_DIRECTORY, 0);
  if (descriptor < 0)
    throw FileError("can't open '" + name + "'");
  std::unique_ptr<DIR, int (*)(DIR *)> list(system.list(descriptor), closedir);
  if (!list) {
    int code = errno;
    close(descriptor);
    throw FileError("can't list '" + name + "'", code);
  }
  std::vector<std::string> names;
  while (dirent *entry = readdir(list.get()))
    if (std::string_view found = entry->d_name; found != "." && found != "..")
      names.emplace_back(found);
  return names;
}
