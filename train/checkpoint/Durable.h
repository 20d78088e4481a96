// Files and folders that survive a crash of the machine.
#ifndef FREESTONE_TRAIN_CHECKPOINT_DURABLE_H
#define FREESTONE_TRAIN_CHECKPOINT_DURABLE_H

#include "formats/Bytes.h"
#include <memory>
#include <string>

namespace freestone::train {

/// Incremental xxh3-128.
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

/// A new file, written sequentially. Throws Error, naming the path.
class DurableFile {
public:
  /// The file must not exist.
  explicit DurableFile(std::string path);
  ~DurableFile();
  DurableFile(const DurableFile &) = delete;

  void write(formats::Bytes bytes);
  /// Waits until the bytes are on the disk.
  void finish();

  uint64_t size() const { return written; }
  /// Checksum of all bytes written.
  std::string checksum() const { return sum.text(); }

private:
  std::string path;
  int file = -1;
  uint64_t written = 0;
  Checksum sum;
};

/// Waits until the folder's entries, not their contents, are on the disk. Throws Error.
void syncFolder(const std::string &path);

/// Renames the folder `from` to `to`, atomically; if `to` exists, the two exchange names. Throws Error.
void publishFolder(const std::string &from, const std::string &to);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_CHECKPOINT_DURABLE_H
