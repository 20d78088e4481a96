#ifndef FREESTONE_CACHE_MODELCONTENT_H
#define FREESTONE_CACHE_MODELCONTENT_H

#include "cache/Stamps.h"
#include <optional>
#include <string>
#include <vector>

namespace freestone::cache {

/// The bytes of a model: its file, and the files of external data that it names.
class ModelContent {
public:
  /// Reads only files that changed since they were last hashed; `folder` (which may be null) holds the hashes. Nothing
  /// where a file can't be read; the compiler reports why.
  static std::optional<ModelContent> read(FileSystem &system, const Folder *folder, const std::string &path);

  /// The hash of all files, in order.
  const std::string &hash() const { return combined; }
  /// Whether the files are still those that were read.
  bool isUnchanged() const;

private:
  explicit ModelContent(FileSystem &system) : system(system) {}
  void add(const Folder *folder, const std::string &path, std::vector<std::string> *externals);

  FileSystem &system;
  std::string combined;
  std::vector<std::pair<std::string, FileIdentity>> files;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_MODELCONTENT_H
