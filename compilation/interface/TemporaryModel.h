#ifndef FREESTONE_COMPILATION_INTERFACE_TEMPORARYMODEL_H
#define FREESTONE_COMPILATION_INTERFACE_TEMPORARYMODEL_H

#include <cstddef>
#include <string>

namespace freestone::compilation {

/// A model in memory as a file for the compiler, in a folder of its own, readable by this user only; removed with this
/// object. The file's name is the same each time, so that the cache finds the model again.
class TemporaryModel {
public:
  /// Throws freestone::Error (IO).
  TemporaryModel(const void *bytes, size_t size, const std::string &name);
  ~TemporaryModel();
  TemporaryModel(const TemporaryModel &) = delete;
  TemporaryModel &operator=(const TemporaryModel &) = delete;

  std::string path() const { return folder + "/" + name; }
  /// A message about the file, with its name alone.
  std::string withoutFolder(std::string message) const;

private:
  std::string folder, name;
};

} // namespace freestone::compilation

#endif // FREESTONE_COMPILATION_INTERFACE_TEMPORARYMODEL_H
