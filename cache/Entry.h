// An entry is one file: what is kept (the payload, from the first byte on, so that an entry of a model loads as an
// artifact does), then metadata as JSON, then a trailer with the checksums of both and of itself. Every byte is
// covered.
#ifndef FREESTONE_CACHE_ENTRY_H
#define FREESTONE_CACHE_ENTRY_H

#include "cache/File.h"
#include "cache/Key.h"
#include "cache/Stamps.h"

namespace freestone::cache {

/// An entry, open and right. While it lives nobody evicts it, and its bytes stay readable whatever happens to its name.
class Entry {
public:
  Entry() = default;
  /// What was made, but could not be kept: the payload is the whole file.
  static Entry unkept(File file, std::string about);

  /// A path to the open file, for this process; the payload is its first `payloadBytes` bytes.
  std::string path() const { return file.path(); }
  uint64_t payloadBytes() const { return bytes; }
  std::string payload() const { return file.read(0, bytes); }
  /// What its maker said about it.
  const std::string &about() const { return said; }
  const Ingredients &ingredients() const { return parts; }
  /// Whether it was there, and nobody had to make it now.
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

/// The bytes after the payload.
std::string sealOf(std::span<const uint8_t> payload, const Ingredients &ingredients, Kind kind,
                   const std::string &about);

/// Bytes that are not those that were written; `what()` is one sentence.
struct DamagedEntry : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How much of an entry is looked at.
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
