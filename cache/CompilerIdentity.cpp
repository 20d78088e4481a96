#include "cache/CompilerIdentity.h"

#include "cache/Key.h"
#include "cache/LibrarySearch.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <iterator>
#include <link.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

using namespace freestone::cache;
using Json = nlohmann::json;

namespace {

constexpr std::string_view compilerLibrary = "libfreestone_compiler.";

struct Library {
  std::string path;
  /// The build id of a mapped library, and its offset in the file; empty if it has none.
  std::string buildId;
  uint64_t offset = 0;
};

Library describeLibrary(const dl_phdr_info &info) {
  Library library{info.dlpi_name, "", 0};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *begin = reinterpret_cast<const char *>(info.dlpi_addr + segment.p_vaddr),
               *end = begin + segment.p_memsz;
    const char *note = begin;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) header;
      std::memcpy(&header, note, sizeof(header));
      const char *name = note + sizeof(header), *id = name + ((header.n_namesz + 3) & ~3u);
      if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        library.buildId.assign(id, header.n_descsz);
        library.offset = segment.p_offset + static_cast<uint64_t>(id - begin);
        return library;
      }
      note = id + ((header.n_descsz + 3) & ~3u);
    }
  }
  return library;
}

std::string_view fileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool isCompiler(std::string_view path) { return fileName(path).starts_with(compilerLibrary); }

/// The compiler in this process.
std::optional<Library> loadedCompiler() {
  std::optional<Library> compiler;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *into) {
        if (!isCompiler(info->dlpi_name))
          return 0;
        *static_cast<std::optional<Library> *>(into) = describeLibrary(*info);
        return 1;
      },
      &compiler);
  return compiler;
}

File openLibrary(FileSystem &system, const std::string &path) { return File(system, AT_FDCWD, path, O_RDONLY); }

Json toJson(const FileIdentity &identity) {
  return {identity.device,
          identity.inode,
          identity.bytes,
          identity.changedSeconds,
          identity.changedNanoseconds,
          identity.attributesSeconds,
          identity.attributesNanoseconds};
}

/// Executables and search paths differ in the compiler that they find, so each has its own stamp.
std::string stampName() { return "stamp/compiler-" + hashOf(describeSearch()); }

/// Files besides the compiler's own that affect which libraries are found: they configure the loader's search.
std::vector<std::string> decidingFiles() {
  return {ownExecutable().string(), ownObject().string(), "/etc/ld.so.cache"};
}

/// The identity of a library; null where the loader would try the next folder.
Json identify(FileSystem &system, const std::string &path) {
  try {
    return toJson(FileIdentity::of(openLibrary(system, path).status()));
  } catch (const FileError &error) {
    if (error.code != ENOENT && error.code != ENOTDIR && error.code != EACCES)
      throw;
    return nullptr;
  }
}

/// Whether a library of this name now exists in an earlier folder of the search.
bool isHidden(FileSystem &system, const std::string &path, const Json &identity) {
  std::vector<std::filesystem::path> folders = compilerFolders();
  std::ranges::copy(loaderFolders(), std::back_inserter(folders));
  for (const std::filesystem::path &folder : folders)
    if (Json found = identify(system, folder / fileName(path)); !found.is_null())
      return found != identity;
  return false;
}

} // namespace

std::string CompilerIdentity::find(const Folder &folder, const std::function<void()> &open) {
  std::string build = recall(folder);
  if (!build.empty())
    return build;
  open();
  return read(folder);
}

std::string CompilerIdentity::recall(const Folder &folder) {
  try {
    File file = folder.open(stampName(), O_RDONLY);
    Json json =
        Json::parse(file.read(0, static_cast<size_t>(file.status().st_size)), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json["build"].is_string() || !json["files"].is_array() || json["files"].empty())
      return "";
    for (const Json &known : json["files"])
      if (!known.is_array() || known.size() != 2 || !known[0].is_string() ||
          known[1] != identify(folder.system(), known[0].get<std::string>()) ||
          (isCompiler(known[0].get<std::string>()) && isHidden(folder.system(), known[0].get<std::string>(), known[1])))
        return "";
    return json["build"].get<std::string>();
  } catch (const FileError &) {
    return "";
  }
}

std::string CompilerIdentity::read(const Folder &folder) {
  std::optional<Library> library = loadedCompiler();
  if (!library)
    return "";
  std::string build;
  Json files = Json::array();
  try {
    File file = openLibrary(folder.system(), library->path);
    FileIdentity identity = FileIdentity::of(file.status());
    // A file replaced since it was loaded must not be recorded as the loaded one.
    if (!library->buildId.empty() && file.read(library->offset, library->buildId.size()) != library->buildId)
      return "";
    std::string id = library->buildId.empty() ? hashOf(Mapping(folder.system(), file, identity.bytes).bytes())
                                              : hashOf(library->buildId);
    build = std::string(fileName(library->path)) + " " + id;
    files.push_back({library->path, toJson(identity)});
    for (const std::string &path : decidingFiles())
      files.push_back({path, identify(folder.system(), path)});
  } catch (const FileError &) {
    return "";
  }
  try {
    if (folder.mayWrite())
      folder.write(stampName(), Json{{"build", build}, {"files", std::move(files)}}.dump());
  } catch (const FileError &) {
    // Not recorded: the next process opens the compiler again.
  }
  return build;
}
