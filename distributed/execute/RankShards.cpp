#include "distributed/execute/RankShards.h"

#include "train/Error.h"
#include <climits>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace freestone::distributed {

using Json = nlohmann::json;

std::string machineName() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, HOST_NAME_MAX);
  return name;
}

PeerShards::PeerShards(Courier &courier, uint64_t model, std::vector<Peer> &peers) : peers(peers) {
  for (int rank = 1; rank < ranks(); ++rank)
    lines.emplace_back(courier, rank, model, MessageKind::Shard);
}

void PeerShards::requireFolder(const std::string &folder) {
  for (Peer &peer : peers)
    peer.line.send({{{"do", "look"}, {"folder", folder}}, {}});
  std::string blind;
  for (int rank = 1; rank < ranks(); ++rank)
    if (const Json &told = peers[rank - 1].line.receive().about; !told.at("seen") && blind.empty())
      blind = fmt::format("rank {} on {}", rank, told.at("machine").get<std::string>());
  if (!blind.empty())
    throw train::Error(
        fmt::format("{} does not see what rank 0 writes to '{}': every rank saves its own part there, so "
                    "name a folder that all machines share",
                    blind, std::filesystem::path(folder).parent_path().string()));
}

void PeerShards::begin(const std::string &folder) {
  for (Peer &peer : peers)
    peer.line.send({{{"do", "save"}, {"folder", folder}, {"others_save", peer.othersSave}}, {}});
}

std::vector<train::CheckpointFile> PeerShards::collect() {
  std::vector<train::CheckpointFile> files;
  std::string error;
  for (ParcelLine &line : lines) {
    const Json &told = line.receive().about;
    if (told.contains("error") && error.empty())
      error = told.at("error");
    for (const Json &file : told.value("files", Json::array()))
      files.push_back({file.at(0), file.at(1), file.at(2), file.at(3)});
  }
  if (!error.empty())
    throw train::Error(error);
  return files;
}

ShardWriter::ShardWriter(int rank, Courier &courier, uint64_t model, train::Recorder recorder)
    : place{rank, courier.size()}, line(courier, 0, model, MessageKind::Shard),
      writer([this](const train::TrainingState &, std::span<const train::TensorGroup> groups) { return store(groups); },
             std::move(recorder)) {}

void ShardWriter::save(std::vector<train::TensorGroup> groups, const std::string &wanted) {
  writer.begin({}, std::move(groups));
  folder = wanted;
  writer.copy();
  writer.write();
}

/// An error goes to rank 0, which ends the training.
std::string ShardWriter::store(std::span<const train::TensorGroup> groups) {
  Json told = {{"files", Json::array()}};
  try {
    for (const train::CheckpointFile &file : train::writeShard(folder, place, groups))
      told["files"].push_back({file.name, file.group, file.bytes, file.checksum});
  } catch (const train::Error &error) {
    told = {{"error", fmt::format("rank {} on {}: {}", place.rank, machineName(), error.what())}};
  }
  line.send({std::move(told), {}});
  line.settle();
  return folder;
}

} // namespace freestone::distributed
