#include "cache/ModelContent.h"

#include "cache/Key.h"
#include "formats/FormatError.h"
#include "formats/ProtobufFields.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

using namespace freestone::cache;
using freestone::formats::Bytes;
using freestone::formats::ProtobufReader;
using freestone::formats::WireType;

/// Calls `take` with every submessage in field `number`.
template <typename Take> static void forEach(Bytes message, uint64_t number, Take take) {
  for (ProtobufReader reader(message); !reader.atEnd();)
    if (auto field = reader.next(); field.number == number && field.type == WireType::Delimited)
      take(field.payload);
}

static std::string textOf(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

/// The files of external data of a model's initializers (ModelProto.graph.initializer.external_data), each once.
static std::vector<std::string> externalFiles(Bytes model) {
  constexpr uint64_t graph = 7, initializer = 5, externalData = 13, key = 1, value = 2;
  std::vector<std::string> locations;
  try {
    forEach(model, graph, [&](Bytes main) {
      forEach(main, initializer, [&](Bytes tensor) {
        forEach(tensor, externalData, [&](Bytes pair) {
          std::string name, text;
          forEach(pair, key, [&](Bytes bytes) { name = textOf(bytes); });
          forEach(pair, value, [&](Bytes bytes) { text = textOf(bytes); });
          if (name == "location" && !std::ranges::count(locations, text))
            locations.push_back(text);
        });
      });
    });
  } catch (const freestone::formats::FormatError &) {
    // Not a model; the compiler reports it.
  }
  return locations;
}

std::optional<ModelContent> ModelContent::read(FileSystem &system, const Folder *folder, const std::string &path) {
  ModelContent content(system);
  try {
    std::vector<std::string> externals;
    content.add(folder, path, &externals);
    for (const std::string &location : externals) {
      content.combined += location + '\0';
      content.add(folder, (std::filesystem::path(path).parent_path() / location).string(), nullptr);
    }
  } catch (const FileError &) {
    return std::nullopt;
  }
  content.combined = hashOf(content.combined);
  return content;
}

void ModelContent::add(const Folder *folder, const std::string &path, std::vector<std::string> *externals) {
  File file(system, AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
  struct stat status = file.status();
  if (!S_ISREG(status.st_mode))
    throw FileError("'" + path + "' is no file", EINVAL);
  FileIdentity identity = FileIdentity::of(status);
  std::string stamp = "file-" + std::to_string(identity.device) + "-" + std::to_string(identity.inode);
  Mapping mapping(system, file, identity.bytes);
  std::string hash = folder ? Stamps(*folder).recall(stamp, identity) : "";
  if (hash.empty()) {
    hash = hashOf(mapping.bytes());
    if (folder)
      Stamps(*folder).remember(stamp, identity, hash);
  } else {
    Stamps(*folder).refresh(stamp);
  }
  if (externals)
    *externals = externalFiles(mapping.bytes());
  combined += hash;
  files.emplace_back(path, identity);
}

bool ModelContent::isUnchanged() const {
  return std::ranges::all_of(files, [&](const auto &file) {
    struct stat status;
    // Follows symbolic links, as the first read of the file did.
    int descriptor = system.open(AT_FDCWD, file.first.c_str(), O_RDONLY | O_NONBLOCK, 0);
    if (descriptor < 0)
      return false;
    bool same = system.status(descriptor, &status) == 0 && FileIdentity::of(status) == file.second;
    close(descriptor);
    return same;
  });
}
