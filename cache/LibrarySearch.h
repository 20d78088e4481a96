#ifndef FREESTONE_CACHE_LIBRARYSEARCH_H
#define FREESTONE_CACHE_LIBRARYSEARCH_H

#include <filesystem>
#include <string>
#include <vector>

namespace freestone::cache {

/// The running executable.
std::filesystem::path ownExecutable();

/// The executable or library that contains this function; empty if unknown.
std::filesystem::path ownObject();

/// Folders to search for the compiler's library before the loader's own search, in order.
std::vector<std::filesystem::path> compilerFolders();

/// Folders that the loader searches before its usual ones, in order: LD_LIBRARY_PATH as of the start of the process,
/// since the loader ignores later changes.
std::vector<std::filesystem::path> loaderFolders();

/// Everything that decides which of the same files this process finds.
std::string describeSearch();

} // namespace freestone::cache

#endif // FREESTONE_CACHE_LIBRARYSEARCH_H
