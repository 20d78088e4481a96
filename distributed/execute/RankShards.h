// Checkpoints of several ranks: each writes a shard with its own states, and rank 0 the manifest.
#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKSHARDS_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKSHARDS_H

#include "distributed/transport/ParcelLine.h"
#include "train/checkpoint/CheckpointWriter.h"

namespace freestone::distributed {

/// The host's name, for messages.
std::string machineName();

/// Another rank, as rank 0 knows it.
struct Peer {
  ParcelLine line;                     ///< of commands
  std::vector<std::string> othersSave; ///< its states that a rank before it saves
};

/// The shards of the other ranks, for rank 0.
class PeerShards final : public train::OtherShards {
public:
  /// `peers` must outlive it.
  PeerShards(Courier &courier, uint64_t model, std::vector<Peer> &peers);

  int ranks() const override { return static_cast<int>(peers.size()) + 1; }
  void requireFolder(const std::string &folder) override;
  void begin(const std::string &folder) override;
  std::vector<train::CheckpointFile> collect() override;

private:
  std::vector<Peer> &peers;
  std::vector<ParcelLine> lines; ///< to the threads that write
};

/// Writes the shards of a rank other than the first one, beside its steps, and tells rank 0 what was written.
class ShardWriter {
public:
  ShardWriter(int rank, Courier &courier, uint64_t model, train::Recorder recorder = {});

  /// Waits for the previous shard and copies the states, which may change on return; then writes the copy to the
  /// folder.
  void save(std::vector<train::TensorGroup> groups, const std::string &folder);

private:
  std::string store(std::span<const train::TensorGroup> groups);

  train::ShardPlace place;
  ParcelLine line;
  std::string folder; ///< of the shard that is written
  train::CheckpointWriter writer;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKSHARDS_H
