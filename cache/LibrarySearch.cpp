#include "cache/LibrarySearch.h"

#include <dlfcn.h>
#include <fstream>
#include <link.h>

using namespace freestone;
namespace fs = std::filesystem;

/// An environment variable as of the start of the process.
static std::string firstValueOf(const std::string &name) {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');)
    if (entry.starts_with(name + "="))
      return entry.substr(name.size() + 1);
  return "";
}

fs::path cache::ownExecutable() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

fs::path cache::ownObject() {
  Dl_info info = {};
  link_map *map = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&cache::ownObject), &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) ||
      !map)
    return {};
  // In the loader's list the executable's name is empty.
  std::error_code ignored;
  return *map->l_name ? fs::canonical(map->l_name, ignored) : ownExecutable();
}

std::vector<fs::path> cache::compilerFolders() {
  fs::path own = ownObject();
  if (own.empty())
    return {};
  fs::path folder = own.parent_path();
  return {folder, folder.parent_path() / "lib"};
}

std::vector<fs::path> cache::loaderFolders() {
  std::string path = firstValueOf("LD_LIBRARY_PATH");
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find_first_of(":;", begin), path.size());
    // An empty path is the current folder.
    std::string folder = path.substr(begin, end - begin);
    folders.push_back(fs::absolute(folder.empty() ? "." : folder, ignored));
    begin = end + 1;
  }
  return folders;
}

std::string cache::describeSearch() {
  std::string text = ownExecutable().string() + '\0' + ownObject().string() + '\0' + firstValueOf("LD_PRELOAD");
  for (const fs::path &folder : loaderFolders())
    text += '\0' + folder.string();
  return text;
}
