#include "cache/Entry.h"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <type_traits>
#include <unistd.h>

using namespace freestone::cache;

namespace {

constexpr std::array<char, 8> entryMagic = {'F', 'R', 'S', 'T', 'K', 'E', 'P', 'T'};
constexpr uint32_t entryVersion = 1;

/// The last bytes of an entry, little-endian; hashes are text.
struct Trailer {
  std::array<char, 8> magic = entryMagic;
  uint32_t version = entryVersion;
  uint32_t trailerBytes = 0;
  uint64_t payloadBytes = 0, metadataBytes = 0;
  std::array<char, 32> payloadHash = {}, metadataHash = {};
  std::array<char, 32> trailerHash = {}; ///< of the preceding fields
};
static_assert(sizeof(Trailer) == 128 && std::has_unique_object_representations_v<Trailer>);

std::array<char, 32> fixed(const std::string &hash) {
  std::array<char, 32> result;
  std::memcpy(result.data(), hash.data(), result.size());
  return result;
}

std::array<char, 32> hashOfTrailer(const Trailer &trailer) {
  return fixed(hashOf(std::string_view(reinterpret_cast<const char *>(&trailer), offsetof(Trailer, trailerHash))));
}

Trailer readTrailer(const File &file, uint64_t fileBytes) {
  Trailer trailer;
  if (fileBytes < sizeof(trailer))
    throw DamagedEntry("it is too short");
  std::memcpy(&trailer, file.read(fileBytes - sizeof(trailer), sizeof(trailer)).data(), sizeof(trailer));
  uint64_t sum;
  if (trailer.magic != entryMagic || trailer.trailerBytes != sizeof(trailer) ||
      trailer.trailerHash != hashOfTrailer(trailer) || trailer.version != entryVersion ||
      __builtin_add_overflow(trailer.payloadBytes, trailer.metadataBytes, &sum) || sum != fileBytes - sizeof(trailer))
    throw DamagedEntry("its end is not as it was written");
  return trailer;
}

} // namespace

Entry Entry::unkept(File file, std::string about) {
  Entry entry;
  entry.bytes = static_cast<uint64_t>(file.status().st_size);
  entry.file = std::move(file);
  entry.said = std::move(about);
  return entry;
}

std::string freestone::cache::sealOf(std::span<const uint8_t> payload, const Ingredients &ingredients, Kind kind,
                                     const std::string &about) {
  nlohmann::ordered_json json = {{"kind", nameOf(kind)}, {"ingredients", ingredients.toJson()}, {"about", about}};
  // The maker's text may contain names of a model, which are not necessarily UTF-8.
  std::string metadata = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  Trailer trailer;
  trailer.trailerBytes = sizeof(trailer);
  trailer.payloadBytes = payload.size();
  trailer.metadataBytes = metadata.size();
  trailer.payloadHash = fixed(hashOf(payload));
  trailer.metadataHash = fixed(hashOf(metadata));
  trailer.trailerHash = hashOfTrailer(trailer);
  return metadata + std::string(reinterpret_cast<const char *>(&trailer), sizeof(trailer));
}

Entry EntryReader::open(Kind kind, const std::string &key, Check check) const {
  Entry entry;
  entry.kept = true;
  entry.file = folder.open(std::string(nameOf(kind)) + "/" + key, O_RDONLY | O_NOFOLLOW);
  try {
    // Protects the entry from eviction. An eviction that came first leaves an open file without a name, which is still
    // readable.
    entry.file.lock(LOCK_SH | LOCK_NB);
  } catch (const FileError &) {
    // Without locks the entry may be evicted while it is open; its bytes stay readable.
  }
  struct stat status = entry.file.status();
  if (!S_ISREG(status.st_mode) || (status.st_uid != geteuid() && status.st_uid != 0) ||
      (status.st_mode & (S_IWGRP | S_IWOTH)))
    throw DamagedEntry("others could have written it");
  Trailer trailer = readTrailer(entry.file, static_cast<uint64_t>(status.st_size));
  entry.bytes = trailer.payloadBytes;
  std::string metadata = entry.file.read(trailer.payloadBytes, trailer.metadataBytes);
  auto json = nlohmann::ordered_json::parse(metadata, nullptr, /*allow_exceptions=*/false);
  if (fixed(hashOf(metadata)) != trailer.metadataHash || !json.is_object())
    throw DamagedEntry("its metadata are not as they were written");
  entry.parts = Ingredients::fromJson(json.value("ingredients", nlohmann::ordered_json()));
  entry.said = json.value("about", "");
  if (json.value("kind", "") != nameOf(kind) || entry.parts.key() != key)
    throw DamagedEntry("it is the entry of another key");
  if (check != Check::MetadataOnly)
    checkPayload(kind, key, entry, std::string(trailer.payloadHash.data(), trailer.payloadHash.size()), check);
  return entry;
}

/// Updates the time of last use, by which entries are evicted.
void EntryReader::refresh(const std::string &name) const {
  if (!folder.mayWrite())
    return;
  try {
    folder.touch(name);
  } catch (const FileError &) {
    // Only the entry's recorded last use is too early.
  }
}

void EntryReader::checkPayload(Kind kind, const std::string &key, const Entry &entry, const std::string &expected,
                               Check check) const {
  std::string stamp = std::string(nameOf(kind)) + "-" + key;
  FileIdentity identity = FileIdentity::of(entry.file.status());
  if (check == Check::UnlessStamped && stamps.recall(stamp, identity) == expected)
    return stamps.refresh(stamp);
  if (hashOf(Mapping(folder.system(), entry.file, entry.bytes).bytes()) != expected)
    throw DamagedEntry("its contents are not as they were written");
  if (kind == Kind::Model)
    stamps.remember(stamp, identity, expected);
  else
    refresh(std::string(nameOf(kind)) + "/" + key);
}
