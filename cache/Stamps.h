#ifndef FREESTONE_CACHE_STAMPS_H
#define FREESTONE_CACHE_STAMPS_H

#include "cache/Folder.h"
#include <string>

namespace freestone::cache {

/// Records the hashes of files, so that unchanged files are not read again. The modification time of a stamp is its
/// last use. Nothing throws: a missing stamp only costs the computation of a hash.
class Stamps {
public:
  explicit Stamps(const Folder &folder) : folder(folder) {}

  /// The recorded hash of a file with this identity; empty if unknown.
  std::string recall(const std::string &name, const FileIdentity &identity) const;
  /// Files that changed just now are not recorded: a further change might be invisible.
  void remember(const std::string &name, const FileIdentity &identity, const std::string &hash) const;
  /// Marks the stamp as used now.
  void refresh(const std::string &name) const;

private:
  const Folder &folder;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_STAMPS_H
