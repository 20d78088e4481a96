#include "runtime/platform/File.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

using namespace freestone::runtime;
using namespace freestone::runtime::platform;

namespace {

Status ioError(const std::string &what, const std::string &path) {
  return {Code::Io, what + " '" + path + "': " + std::strerror(errno)};
}

class FileDescriptor {
public:
  explicit FileDescriptor(int number) : number(number) {}
  FileDescriptor(const FileDescriptor &) = delete;
  ~FileDescriptor() {
    if (number >= 0)
      close(number);
  }
  int get() const { return number; }

private:
  int number;
};

bool writeAll(int file, std::span<iovec> pieces) {
  while (!pieces.empty()) {
    ssize_t written = writev(file, pieces.data(), static_cast<int>(pieces.size()));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    for (; !pieces.empty() && static_cast<size_t>(written) >= pieces.front().iov_len; pieces = pieces.subspan(1))
      written -= static_cast<ssize_t>(pieces.front().iov_len);
    if (!pieces.empty()) {
      pieces.front().iov_base = static_cast<uint8_t *>(pieces.front().iov_base) + written;
      pieces.front().iov_len -= written;
    }
  }
  return true;
}

/// Writes a huge page at a time, so that the system keeps, and maps, the file in huge pages.
bool writeAll(int file, std::span<const std::span<const uint8_t>> pieces) {
  constexpr size_t hugePage = size_t(2) << 20, mostPieces = IOV_MAX;
  std::vector<iovec> page;
  size_t room = hugePage;
  for (std::span<const uint8_t> piece : pieces)
    while (!piece.empty()) {
      size_t bytes = std::min(room, piece.size());
      page.push_back({const_cast<uint8_t *>(piece.data()), bytes});
      piece = piece.subspan(bytes);
      room -= bytes;
      if (room > 0 && page.size() < mostPieces)
        continue;
      if (!writeAll(file, page))
        return false;
      page.clear();
      room = room > 0 ? room : hugePage;
    }
  return writeAll(file, page);
}

} // namespace

Result<MappedFile> MappedFile::open(const std::string &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat properties;
  if (file.get() < 0 || fstat(file.get(), &properties) != 0)
    return ioError("can't open", path);
  if (!S_ISREG(properties.st_mode))
    return Status(Code::Io, "can't open '" + path + "': not a regular file");
  MappedFile mapped;
  if (properties.st_size == 0)
    return mapped;
  void *address = mmap(nullptr, properties.st_size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED)
    return ioError("can't map", path);
  madvise(address, properties.st_size, MADV_NOHUGEPAGE);
  mapped.address = static_cast<const uint8_t *>(address);
  mapped.size = properties.st_size;
  return mapped;
}

void MappedFile::useHugePages() const {
  if (address)
    madvise(const_cast<uint8_t *>(address), size, MADV_HUGEPAGE);
}

void MappedFile::release() const {
  if (address)
    madvise(const_cast<uint8_t *>(address), size, MADV_DONTNEED);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : address(std::exchange(other.address, nullptr)), size(std::exchange(other.size, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(address, other.address);
  std::swap(size, other.size);
  return *this;
}

MappedFile::~MappedFile() {
  if (address)
    munmap(const_cast<uint8_t *>(address), size);
}

/// Devices and pipes are not replaced by files (`/dev/null`). A nameless file (`/proc/self/fd/N`) can't be replaced by
/// renaming, and no other process sees it.
static bool isWrittenInPlace(const std::string &path) {
  struct stat properties;
  return stat(path.c_str(), &properties) == 0 && (!S_ISREG(properties.st_mode) || properties.st_nlink == 0);
}

static Status writePlainly(const std::string &path, std::span<const std::span<const uint8_t>> pieces) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (file.get() < 0)
    return ioError("can't open", path);
  return writeAll(file.get(), pieces) ? Status() : ioError("can't write", path);
}

Status platform::writeFileAtomically(const std::string &path, std::span<const std::span<const uint8_t>> pieces) {
  if (isWrittenInPlace(path))
    return writePlainly(path, pieces);
  static std::atomic<unsigned> counter = 0;
  std::string temporary = path + "." + std::to_string(getpid()) + "." + std::to_string(counter++) + ".tmp";
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0)
    return ioError("can't create", temporary);
  if (!writeAll(file.get(), pieces)) {
    Status status = ioError("can't write", temporary);
    unlink(temporary.c_str());
    return status;
  }
  if (rename(temporary.c_str(), path.c_str()) == 0)
    return {};
  Status status = ioError("can't write", path);
  unlink(temporary.c_str());
  return status;
}

std::FILE *platform::openUnnamedFile(const std::string &path) {
  std::string temporary = path + ".XXXXXX"; // threads may create files for one path at a time
  int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0)
    return nullptr;
  unlink(temporary.c_str());
  return fdopen(file, "w+");
}

std::string platform::readSmallFile(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
