// Checkpoints whose states several ranks keep.
#include "test/train/Files.h"
#include "train/Error.h"
#include "train/checkpoint/CheckpointFolder.h"
#include "train/checkpoint/Durable.h"
#include <fmt/format.h>
#include <future>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;
namespace fs = std::filesystem;

namespace {

constexpr int64_t elements = 5000;

/// One rank's states: a weight and its moment, which are the rank and the step.
struct RankModel {
  RankModel(int rank, int64_t step) : weight(elements, static_cast<float>(1000 * rank + step)) {
    groups = {{"parameters", {viewOf(fmt::format("w{}", rank), FREESTONE_F32, {elements}, weight)}},
              {"optimizer", {viewOf(fmt::format("m{}", rank), FREESTONE_F32, {elements}, weight)}}};
  }

  std::vector<float> weight;
  std::vector<TensorGroup> groups;
};

/// The other ranks as threads.
class Threads final : public OtherShards {
public:
  explicit Threads(int count) : count(count) {}

  int ranks() const override { return count; }
  void requireFolder(const std::string &folder) override {
    EXPECT_TRUE(fs::is_directory(folder));
    if (isBlind)
      throw Error("rank 1 does not see it");
  }
  void begin(const std::string &folder) override {
    for (int rank = 1; rank < count; ++rank)
      writing.push_back(std::async(std::launch::async, [this, rank, folder] {
        if (rank == failing)
          throw Error("rank 1: no space");
        return writeShard(folder, {rank, count}, RankModel(rank, step).groups, chunkBytes);
      }));
  }
  std::vector<CheckpointFile> collect() override {
    std::vector<CheckpointFile> files;
    for (auto &shard : std::exchange(writing, {}))
      std::ranges::move(shard.get(), std::back_inserter(files));
    return files;
  }

  int64_t step = 0;
  uint64_t chunkBytes = usualChunkBytes;
  bool isBlind = false;
  int failing = -1;
  std::vector<std::future<std::vector<CheckpointFile>>> writing;

private:
  int count;
};

std::string save(CheckpointFolder &folder, Threads &others, int64_t step) {
  others.step = step;
  TrainingState state;
  state.step = step;
  return folder.save(state, RankModel(0, step).groups);
}

/// Restores one rank's part, which must be of this step.
void expectPart(const Checkpoint &checkpoint, int rank, int64_t step) {
  std::vector<float> weight(elements), moment(elements);
  std::vector<TensorTarget> weights = {{fmt::format("w{}", rank), FREESTONE_F32, {elements}, weight.data()}},
                            moments = {{fmt::format("m{}", rank), FREESTONE_F32, {elements}, moment.data()}};
  checkpoint.restore("parameters", weights, Checkpoint::Extent::Part);
  checkpoint.restore("optimizer", moments, Checkpoint::Extent::Part);
  EXPECT_EQ(weight, RankModel(rank, step).weight);
  EXPECT_EQ(moment, weight);
}

void damage(const std::string &file) {
  std::string content = readText(file);
  content[content.size() - 9] ^= 1;
  writeText(file, content);
}

int64_t newestStep(const std::string &folder, std::string *reason = nullptr) {
  std::optional<Checkpoint> newest = CheckpointFolder::newest(folder, [&](const std::string &why) {
    if (reason)
      *reason = why;
  });
  return newest ? newest->state().step : 0;
}

} // namespace

TEST(Shards, AreOneCheckpoint) {
  Folder folder;
  for (int ranks : {1, 2, 4}) {
    Threads others(ranks);
    others.chunkBytes = 10000; // several files
    CheckpointFolder checkpoints(folder / std::to_string(ranks), {}, &others);
    Checkpoint saved = Checkpoint::open(save(checkpoints, others, 7));
    EXPECT_EQ(saved.tensors("parameters").size(), static_cast<size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      expectPart(saved, rank, 7);
    EXPECT_EQ(fs::exists(saved.folder() + "/optimizer-rank-001.safetensors"), ranks > 1);
  }
}

TEST(Shards, ARankReadsItsPartAlone) {
  Folder folder;
  Threads others(3);
  CheckpointFolder checkpoints(folder.path(), {}, &others);
  std::string saved = save(checkpoints, others, 1);
  damage(saved + "/parameters-rank-001.safetensors");
  expectError<Error>([&] { Checkpoint::open(saved); }, {"parameters-rank-001.safetensors: its checksum is wrong"});
  Checkpoint opened = Checkpoint::open(saved, Checkpoint::Verify::WhatIsRestored);
  expectPart(opened, 0, 1);
  expectPart(opened, 2, 1);
  expectError<Error>([&] { expectPart(opened, 1, 1); }, {"parameters-rank-001.safetensors: its checksum is wrong"});
}

TEST(Shards, WithoutOneThereIsNoCheckpoint) {
  Folder folder;
  Threads others(3);
  CheckpointFolder checkpoints(folder.path(), {.keep = 10}, &others);
  for (int64_t step = 1; step <= 5; ++step)
    save(checkpoints, others, step);
  auto file = [&](int step, const char *name) { return fmt::format("{}/step-{:06}/{}", folder.path(), step, name); };
  fs::remove(file(5, "parameters-rank-002.safetensors"));
  fs::resize_file(file(4, "optimizer-rank-001.safetensors"), 90);
  damage(file(3, "optimizer-rank-002.safetensors"));
  std::string reason;
  EXPECT_EQ(newestStep(folder.path(), &reason), 2);
  EXPECT_NE(reason.find("step-000003/optimizer-rank-002.safetensors"), std::string::npos) << reason;
  for (int step : {5, 4, 3}) // sizes are always looked at
    EXPECT_EQ(messageOf<Error>([&] {
                (void)Checkpoint::open(fmt::format("{}/step-{:06}", folder.path(), step),
                                       Checkpoint::Verify::WhatIsRestored);
              }).empty(),
              step == 3);
}

TEST(Shards, ARankThatCanNotWriteLeavesTheOldOnes) {
  Folder folder;
  Threads others(2);
  CheckpointFolder checkpoints(folder.path(), {.keep = 1}, &others);
  save(checkpoints, others, 1);
  others.failing = 1;
  expectError<Error>([&] { save(checkpoints, others, 2); }, {"rank 1: no space"});
  others.failing = -1;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(newestStep(folder.path()), 1);
  save(checkpoints, others, 3);
  EXPECT_EQ(newestStep(folder.path()), 3);
}

TEST(Shards, ACheckpointThatOnlyBeganIsRemoved) {
  Folder folder;
  Threads others(3);
  {
    CheckpointFolder checkpoints(folder.path(), {}, &others);
    checkpoints.begin(1);
  }
  EXPECT_TRUE(others.writing.empty()) << "ranks still write";
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Shards, EveryRankMustSeeTheFolder) {
  Folder folder;
  Threads others(2);
  others.isBlind = true;
  expectError<Error>([&] { CheckpointFolder(folder.path(), {}, &others); }, {"rank 1 does not see it"});
  EXPECT_TRUE(fs::is_empty(folder.path()));
  others.isBlind = false;
  CheckpointFolder checkpoints(folder.path(), {}, &others); // the lock is free
}

TEST(Shards, SurviveKills) {
  Folder folder;
  std::mt19937 random(1);
  int64_t done = 0, leftovers = 0;
  int longest = 10000; ///< microseconds
  for (int round = 0; round < 60; ++round) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Threads others(3);
      CheckpointFolder checkpoints(folder.path(), {.keep = 2}, &others);
      for (int64_t step = done + 1;; ++step)
        save(checkpoints, others, step);
    }
    usleep(std::uniform_int_distribution<int>(0, longest)(random));
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    for (const fs::directory_entry &entry : fs::directory_iterator(folder.path())) {
      if (entry.path().filename().string().starts_with(".")) {
        ++leftovers;
        continue;
      }
      Checkpoint whole = Checkpoint::open(entry.path());
      for (int rank = 0; rank < 3; ++rank)
        expectPart(whole, rank, whole.state().step);
    }
    int64_t newest = newestStep(folder.path());
    EXPECT_GE(newest, done);
    // Rounds grow on a slow machine until some of them save.
    longest = newest == done ? longest + longest / 5 : std::max(1000, longest - longest / 20);
    done = newest;
  }
  EXPECT_GT(leftovers, 10);
  EXPECT_GT(done, 10);
  Threads others(3);
  CheckpointFolder checkpoints(folder.path(), {.keep = 2}, &others);
  for (const fs::directory_entry &entry : fs::directory_iterator(folder.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
}
