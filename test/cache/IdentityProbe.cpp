// Prints the compiler's identity, and whether it had to be loaded: identity-probe FOLDER

#include "cache/CompilerIdentity.h"
#include "cache/LibrarySearch.h"
#include <cstdio>
#include <dlfcn.h>

using namespace freestone::cache;

static void open() {
  constexpr const char *name = "libfreestone_compiler.so";
  void *library = nullptr;
  for (const std::filesystem::path &folder : compilerFolders())
    if (!library)
      library = dlopen((folder / name).c_str(), RTLD_NOW);
  if (!library)
    library = dlopen(name, RTLD_NOW);
  std::printf("opened ");
}

int main(int, char **arguments) {
  Folder folder(FileSystem::system(), arguments[1], true);
  std::printf("%s\n", CompilerIdentity::find(folder, open).c_str());
}
