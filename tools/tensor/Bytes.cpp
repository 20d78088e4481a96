#include "tools/tensor/Bytes.h"
#include "tools/tensor/Tensor.h"
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace freestone::tools {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

static TensorError failure(const char *what, const std::string &path) {
  return TensorError(fmt::format("can't {} {}: {}", what, path, std::strerror(errno)));
}

std::vector<uint8_t> readFile(const std::string &path) {
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  struct stat status;
  if (!file || fstat(fileno(file.get()), &status) != 0)
    throw failure("read", path);
  if (S_ISDIR(status.st_mode))
    throw TensorError(fmt::format("can't read {}: it is a folder", path));
  std::vector<uint8_t> bytes(static_cast<size_t>(status.st_size));
  // Reads to the end: a pipe has no size, and a file may grow meanwhile.
  size_t used = 0;
  while (true) {
    if (used == bytes.size())
      bytes.resize(bytes.size() + 65536);
    size_t got = std::fread(bytes.data() + used, 1, bytes.size() - used, file.get());
    used += got;
    if (got == 0)
      break;
  }
  if (std::ferror(file.get()))
    throw failure("read", path);
  bytes.resize(used);
  return bytes;
}

void writeFile(const std::string &path, Bytes bytes) {
  struct stat status;
  // /dev/stdout and the like are written in place.
  bool special = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  std::string target = special ? path : fmt::format("{}.{}.tmp", path, getpid());
  {
    File file(std::fopen(target.c_str(), "wb"), std::fclose);
    if (!file)
      throw failure("write", path);
    bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
    if (std::fclose(file.release()) != 0 || !written) {
      TensorError error = failure("write", path);
      if (!special)
        unlink(target.c_str());
      throw error;
    }
  }
  if (!special && std::rename(target.c_str(), path.c_str()) != 0)
    throw failure("write", path);
}

} // namespace freestone::tools
