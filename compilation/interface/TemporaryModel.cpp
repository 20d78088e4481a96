#include "compilation/interface/TemporaryModel.h"

#include "freestone/freestone.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

using namespace freestone;
using namespace freestone::compilation;

static Error cannotWrite(const std::string &path) {
  return {FREESTONE_IO, fmt::format("can't write '{}', where the compiler would read the model: {}; TMPDIR may name "
                                    "another folder",
                                    path, std::strerror(errno))
                            .c_str()};
}

TemporaryModel::TemporaryModel(const void *bytes, size_t size, const std::string &name) : name(name) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw Error(FREESTONE_INVALID_ARGUMENT, fmt::format("'{}' is no name for a model", name).c_str());
  std::error_code error;
  std::filesystem::path base = std::filesystem::temp_directory_path(error);
  folder = (error ? "/tmp" : base) / "freestone.XXXXXX";
  if (!mkdtemp(folder.data()))
    throw cannotWrite(folder);
  std::FILE *file = std::fopen(path().c_str(), "wb");
  bool written = file && std::fwrite(bytes, 1, size, file) == size;
  if (file && std::fclose(file) != 0)
    written = false;
  if (written)
    return;
  Error failure = cannotWrite(path());
  std::filesystem::remove_all(folder, error);
  throw failure;
}

TemporaryModel::~TemporaryModel() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::string TemporaryModel::withoutFolder(std::string message) const {
  for (size_t at; (at = message.find(folder + "/")) != std::string::npos;)
    message.erase(at, folder.size() + 1);
  return message;
}
