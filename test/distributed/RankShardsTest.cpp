// Shards go from the ranks that write them to rank 0, while commands go on.
#include "distributed/execute/RankShards.h"
#include "distributed/Error.h"
#include "distributed/transport/LocalTransport.h"
#include "test/train/Files.h"
#include "train/checkpoint/CheckpointFolder.h"
#include <atomic>
#include <fmt/format.h>
#include <thread>

using namespace freestone;
using namespace freestone::distributed;
using namespace freestone::test;

namespace {

constexpr int ranks = 3, steps = 20;
constexpr uint64_t model = 7;

std::vector<train::TensorGroup> groupsOf(int rank, const std::vector<float> &weight) {
  return {{"parameters", {viewOf(fmt::format("w{}", rank), FREESTONE_F32, {std::ssize(weight)}, weight)}}};
}

/// A rank that counts up its weight, and saves when it is told to.
void serve(int rank, Courier &courier, const std::atomic<int> &blind) {
  ParcelLine line(courier, 0, model);
  ShardWriter shards(rank, courier, model);
  std::vector<float> weight(1000);
  for (;;) {
    const nlohmann::json command = line.receive().about;
    if (command.at("do") == "end")
      return;
    if (command.at("do") == "look")
      line.send({{{"seen", rank != blind}, {"machine", "here"}}, {}});
    else if (command.at("do") == "save")
      shards.save(groupsOf(rank, weight), command.at("folder"));
    else
      for (float &value : weight)
        ++value;
  }
}

class Shards : public testing::Test {
protected:
  Shards() {
    for (auto &transport : transports)
      couriers.push_back(std::make_unique<Courier>(*transport));
    for (int rank = 1; rank < ranks; ++rank) {
      threads.emplace_back([this, rank] { serve(rank, *couriers[rank], blind); });
      peers.push_back({{*couriers[0], rank, model}, {}});
    }
    others = std::make_unique<PeerShards>(*couriers[0], model, peers);
  }
  ~Shards() override { command("end"); }

  void command(const std::string &what) {
    for (Peer &peer : peers)
      peer.line.send({{{"do", what}}, {}});
    for (Peer &peer : peers)
      peer.line.settle();
  }

  Folder folder;
  std::atomic<int> blind = 0; ///< the rank that does not see the folder
  std::vector<std::unique_ptr<Transport>> transports = connectLocally(ranks, {});
  std::vector<std::unique_ptr<Courier>> couriers;
  std::vector<std::jthread> threads;
  std::vector<Peer> peers;
  std::unique_ptr<PeerShards> others;
};

} // namespace

TEST_F(Shards, AreOfTheStepAfterWhichTheyBegan) {
  train::CheckpointFolder checkpoints(folder.path(), {.keep = steps}, others.get());
  train::CheckpointWriter writer([&](const train::TrainingState &state, std::span<const train::TensorGroup> groups) {
    return checkpoints.finish(state, groups);
  });
  std::vector<float> weight(1000);
  for (int step = 1; step <= steps; ++step) {
    command("step");
    for (float &value : weight)
      ++value;
    train::TrainingState state;
    state.step = step;
    writer.begin(state, groupsOf(0, weight));
    checkpoints.begin(step);
    writer.copy();
    writer.write();
  }
  writer.finish();
  for (int step = 1; step <= steps; ++step) {
    train::Checkpoint saved = train::Checkpoint::open(fmt::format("{}/step-{:06}", folder.path(), step));
    std::vector<formats::TensorView> weights = saved.tensors("parameters");
    ASSERT_EQ(std::ssize(weights), ranks);
    for (const formats::TensorView &tensor : weights)
      EXPECT_EQ(std::string(tensor.bytes.begin(), tensor.bytes.end()),
                bytesOf(std::vector<float>(1000, static_cast<float>(step))));
  }
}

TEST_F(Shards, TheRankThatCanNotWriteIsNamed) {
  others->begin(folder / "nowhere");
  expectError<train::Error>([&] { others->collect(); },
                            {"rank 1 on ", machineName().c_str(), "can't create '", "parameters-rank-001"});
}

TEST_F(Shards, TheRankThatDoesNotSeeTheFolderIsNamed) {
  blind = 2;
  expectError<train::Error>([&] { train::CheckpointFolder(folder / "run", {}, others.get()); },
                            {"rank 2 on here does not see what rank 0 writes to '", "/run'"});
  blind = 0;
  train::CheckpointFolder checkpoints(folder / "run", {}, others.get());
}
