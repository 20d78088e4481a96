// An entry is one file: the payload (from the first byte on, so that an entry of a model loads as an artifact), then
// metadata as JSON, then a trailer with the checksums of both and of itself. Every byte is covered.
#ifndef FREESTONE_CACHE_ENTRY_H
#define FREESTONE_CACHE_ENTRY_H

#include "cache/File.h"
#include "cache/Key.h"
#include "cache/Stamps.h"

namespace freestone::cache {

/// An open, verified entry. Not evicted during its lifetime, and readable even if its name is removed.
class Entry {
public:
  Entry() = default;
  /// An entry outside the cache: the payload is the whole file.
  static Entry unkept(File file, std::string about);

  /// A path to the open file, valid in this process; the payload is its first `payloadBytes` bytes.
  std::string path() const { return file.path(); }
  uint64_t payloadBytes() const { return bytes; }
  std::string payload() const { return file.read(0, bytes); }
  /// The maker's text about the entry.
  const std::string &about() const { return said; }
  const Ingredients &ingredients() const { return parts; }
  /// Whether the entry came from the cache.
  bool wasKept() const { return kept; }

private:
  friend class EntryReader;
  friend class Store;
  File file;
  uint64_t bytes = 0;
  std::string said;
  Ingredients parts;
  bool kept = false;
};

/// The metadata and trailer that follow the payload.
std::string sealOf(std::span<const uint8_t> payload, const Ingredients &ingredients, Kind kind,
                   const std::string &about);

/// The bytes differ from those written; `what()` is one sentence.
struct DamagedEntry : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Extent of the verification of an entry.
enum class Check { Everything, UnlessStamped, MetadataOnly };

/// Opens entries. Throws FileError and DamagedEntry.
class EntryReader {
public:
  explicit EntryReader(const Folder &folder) : folder(folder), stamps(folder) {}
  Entry open(Kind kind, const std::string &key, Check check) const;

private:
  void checkPayload(Kind kind, const std::string &key, const Entry &entry, const std::string &expected,
                    Check check) const;
  void refresh(const std::string &name) const;
  const Folder &folder;
  Stamps stamps;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_ENTRY_H
