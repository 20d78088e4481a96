#include "cache/CompilerIdentity.h"

#include "cache/Key.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace freestone::cache;
using Json = nlohmann::json;

namespace {

struct Library {
  std::string path, buildId;
};

/// The id that the linker gave to what is mapped here; empty if none.
std::string buildIdOf(const dl_phdr_info &info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *note = reinterpret_cast<const char *>(info.dlpi_addr + segment.p_vaddr), *end = note + segment.p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) header;
      std::memcpy(&header, note, sizeof(header));
      const char *name = note + sizeof(header), *id = name + ((header.n_namesz + 3) & ~3u);
      if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
        return hashOf(std::string_view(id, header.n_descsz));
      note = id + ((header.n_descsz + 3) & ~3u);
    }
  }
  return "";
}

/// The libraries of the compiler that are loaded.
std::vector<Library> loadedLibraries() {
  std::vector<Library> libraries;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *into) {
        std::string_view path = info->dlpi_name;
        std::string_view name = path.substr(path.rfind('/') + 1);
        for (const char *prefix : {"libfreestone_compiler.", "libMLIR.", "libLLVM.", "libLLVM-"})
          if (name.starts_with(prefix))
            static_cast<std::vector<Library> *>(into)->push_back({std::string(path), buildIdOf(*info)});
        return 0;
      },
      &libraries);
  return libraries;
}

File openLibrary(FileSystem &system, const std::string &path) { return File(system, AT_FDCWD, path, O_RDONLY); }

Json toJson(const FileIdentity &identity) {
  return {identity.device,         identity.inode,
          identity.bytes,          identity.changedSeconds,
          identity.changedNanoseconds, identity.attributesSeconds,
          identity.attributesNanoseconds};
}

/// Each executable finds its own compiler.
std::string stampName() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return "stamp/compiler-" + hashOf(std::string_view(path, static_cast<size_t>(std::max<ssize_t>(length, 0))));
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
    Json json = Json::parse(file.read(0, static_cast<size_t>(file.status().st_size)), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json["build"].is_string() || !json["files"].is_array() || json["files"].empty())
      return "";
    for (const Json &known : json["files"])
      if (!known.is_array() || known.size() != 2 || !known[0].is_string() ||
          known[1] != toJson(FileIdentity::of(openLibrary(folder.system(), known[0].get<std::string>()).status())))
        return "";
    return json["build"].get<std::string>();
  } catch (const FileError &) {
    return "";
  }
}

std::string CompilerIdentity::read(const Folder &folder) {
  std::string build;
  Json files = Json::array();
  try {
    for (Library &library : loadedLibraries()) {
      File file = openLibrary(folder.system(), library.path);
      FileIdentity identity = FileIdentity::of(file.status());
      if (library.buildId.empty())
        library.buildId = hashOf(Mapping(folder.system(), file, identity.bytes).bytes());
      build += (build.empty() ? "" : ", ") + library.path.substr(library.path.rfind('/') + 1) + " " + library.buildId;
      files.push_back({library.path, toJson(identity)});
    }
  } catch (const FileError &) {
    return "";
  }
  try {
    if (folder.mayWrite())
      folder.write(stampName(), Json{{"build", build}, {"files", std::move(files)}}.dump());
  } catch (const FileError &) {
    // It is opened again the next time.
  }
  return build;
}
