#ifndef FREESTONE_TOOLS_FREESTONE_TEMPORARYFOLDER_H
#define FREESTONE_TOOLS_FREESTONE_TEMPORARYFOLDER_H

#include "tools/freestone/Failure.h"
#include <cstdlib>
#include <filesystem>
#include <string>

namespace freestone::tools {

/// A new folder, readable by this user only, removed with its contents.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    name = (error ? "/tmp" : base) / "freestone.XXXXXX";
    if (!mkdtemp(name.data()))
      throw Failure(Exit::Failed,
                    "can't make a temporary folder such as " + name + "; set TMPDIR to a folder that can be written");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(name, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::string &path() const { return name; }

private:
  std::string name;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_TEMPORARYFOLDER_H
