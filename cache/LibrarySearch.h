#ifndef FREESTONE_CACHE_LIBRARYSEARCH_H
#define FREESTONE_CACHE_LIBRARYSEARCH_H

#include <filesystem>
#include <string>
#include <vector>

namespace freestone::cache {

/// The executable that runs.
std::filesystem::path ownExecutable();

/// The executable or library that this function was linked into; empty if that can't be told.
std::filesystem::path ownObject();

/// Where the compiler's library is looked for before the loader looks, in this order.
std::vector<std::filesystem::path> compilerFolders();

/// Where the loader looks before its usual places, in this order: LD_LIBRARY_PATH as it was when the process began.
/// What the process has done to its environment since does not count for the loader.
std::vector<std::filesystem::path> loaderFolders();

/// Everything that decides, for the same files, which of them this process finds.
std::string describeSearch();

} // namespace freestone::cache

#endif // FREESTONE_CACHE_LIBRARYSEARCH_H
