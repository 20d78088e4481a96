// Files and folders that are still there, whole, after a crash of the machine.
#ifndef FREESTONE_TRAIN_DURABLE_H
#define FREESTONE_TRAIN_DURABLE_H

#include "formats/Bytes.h"
#include <memory>
#include <string>

namespace freestone::train {

/// xxh3-128 of bytes that come one after another.
class Checksum {
public:
  Checksum();
  ~Checksum();
  void add(formats::Bytes bytes);
  /// 32 hexadecimal digits.
  std::string text() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

std::string checksumOf(formats::Bytes bytes);

/// A new file that is written from beginning to end. Throws Error, naming the path.
class DurableFile {
public:
  /// The file must not exist.
  explicit DurableFile(std::string path);
  ~DurableFile();
  DurableFile(const DurableFile &) = delete;

  void write(formats::Bytes bytes);
  /// Returns when the bytes are on the disk.
  void finish();

  uint64_t size() const { return written; }
  /// Of all bytes written.
  std::string checksum() const { return sum.text(); }

private:
  std::string path;
  int file = -1;
  uint64_t written = 0;
  Checksum sum;
};

/// Returns when the folder's entries, not their contents, are on the disk. Throws Error.
void syncFolder(const std::string &path);

/// Gives the folder `from` the name `to`; if a folder has it already, the two change names at once, and `from` is the
/// old one's afterwards. Throws Error.
void publishFolder(const std::string &from, const std::string &to);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DURABLE_H
