#ifndef FREESTONE_CACHE_STAMPS_H
#define FREESTONE_CACHE_STAMPS_H

#include "cache/Folder.h"
#include <string>

namespace freestone::cache {

/// Remembers the hashes of files, so that what has not changed is not read again. The time of a stamp itself is when it
/// was of use last. Nothing throws: what can't be remembered is computed again.
class Stamps {
public:
  explicit Stamps(const Folder &folder) : folder(folder) {}

  /// The hash that a file of this identity had; empty where it is not known.
  std::string recall(const std::string &name, const FileIdentity &identity) const;
  /// Files that changed just now are not remembered: the next change might not show.
  void remember(const std::string &name, const FileIdentity &identity, const std::string &hash) const;
  /// It was of use.
  void refresh(const std::string &name) const;

private:
  const Folder &folder;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_STAMPS_H
