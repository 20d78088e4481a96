#ifndef FREESTONE_CACHE_COMPILERIDENTITY_H
#define FREESTONE_CACHE_COMPILERIDENTITY_H

#include "cache/Folder.h"
#include <string>

namespace freestone::cache {

/// Which build of the compiler it is, down to the build ids of its library and of LLVM's. They are known once the compiler was opened;
/// the cache remembers them, with the identities of the files, so that a warm start need not open it.
class CompilerIdentity {
public:
  /// What was remembered for this executable; empty where nothing was, or a file has changed.
  static std::string recall(const Folder &folder);
  /// Of the compiler that this process has opened, which calls itself `version`.
  static std::string read(const Folder &folder, const std::string &version);
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_COMPILERIDENTITY_H
