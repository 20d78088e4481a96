#include "compilation/CompilerLibrary.h"

#include "cache/LibrarySearch.h"
#include "freestone/freestone.h"
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace freestone::compilation {

static constexpr const char *libraryName = "libfreestone_compiler.so";

static Error missing(const std::string &reason) { return {FREESTONE_INCOMPATIBLE, reason.c_str()}; }

static void *openLibrary() {
  std::error_code ignored;
  for (const std::filesystem::path &folder : cache::compilerFolders())
    if (std::filesystem::exists(folder / libraryName, ignored))
      if (void *library = dlopen((folder / libraryName).c_str(), RTLD_LAZY | RTLD_LOCAL))
        return library;
  if (void *library = dlopen(libraryName, RTLD_LAZY | RTLD_LOCAL))
    return library;
  throw missing(fmt::format("the compiler can't be opened ({}); without it only .stone files can be run", dlerror()));
}

const freestone_compiler_interface &openCompiler() {
  static const freestone_compiler_interface &compiler = []() -> const freestone_compiler_interface & {
    auto entry = reinterpret_cast<freestone_compiler_function>(dlsym(openLibrary(), "freestone_compiler"));
    const freestone_compiler_interface *interface = entry ? entry() : nullptr;
    if (!interface || interface->version != FREESTONE_COMPILER_INTERFACE_VERSION)
      throw missing(fmt::format("{} is of another version than what opens it", libraryName));
    return *interface;
  }();
  return compiler;
}

} // namespace freestone::compilation
