#ifndef FREESTONE_CACHE_COMPILERIDENTITY_H
#define FREESTONE_CACHE_COMPILERIDENTITY_H

#include "cache/Folder.h"
#include <functional>
#include <string>

namespace freestone::cache {

/// Which build of the compiler it is, down to the build ids of its library and of LLVM's. They are known once the
/// compiler was opened; the cache remembers them, with the identities of the files, so that a warm start need not open
/// it.
class CompilerIdentity {
public:
  /// As remembered, else as read after `open` has opened the compiler. Throws what `open` throws.
  static std::string find(const Folder &folder, const std::function<void()> &open);
  /// What was remembered for this executable and where it looks for libraries; empty where nothing was, a file has
  /// changed, or another would be found now.
  static std::string recall(const Folder &folder);
  /// Of the compiler that this process has opened; empty if there is none, or if its files can't be read or are not
  /// those any more that were loaded.
  static std::string read(const Folder &folder);
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_COMPILERIDENTITY_H
