#ifndef FREESTONE_CACHE_COMPILERIDENTITY_H
#define FREESTONE_CACHE_COMPILERIDENTITY_H

#include "cache/Folder.h"
#include <functional>
#include <string>

namespace freestone::cache {

/// Identifies the build of the compiler by the build id of its library, which LLVM is inside of. It is read from the
/// opened compiler; the cache records it together with the identity of the file, so that a warm start need not load it.
class CompilerIdentity {
public:
  /// The recorded identity, else the one read after `open` has opened the compiler. Throws what `open` throws.
  static std::string find(const Folder &folder, const std::function<void()> &open);
  /// The identity recorded for this executable and its search path; empty if there is none, if a file has changed, or
  /// if the search would now find another file.
  static std::string recall(const Folder &folder);
  /// The identity of the compiler that this process has opened; empty if there is none, or if its file can't be read
  /// or was replaced since.
  static std::string read(const Folder &folder);
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_COMPILERIDENTITY_H
