#include "test/train/Files.h"
#include "train/Error.h"
#include "train/checkpoint/CheckpointFolder.h"
#include "train/checkpoint/Durable.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;
namespace fs = std::filesystem;

namespace {

/// Two parameters and a moment; all elements equal the step.
struct Model {
  explicit Model(int64_t step, size_t elements = 1000) : weight(elements, float(step)), bias(7, float(step)) {
    state.step = step;
    groups = {{"parameters",
               {viewOf("layer/weight", FREESTONE_F32, {int64_t(elements)}, weight),
                viewOf("bias", FREESTONE_F32, {7}, bias)}},
              {"optimizer", {viewOf("bias", FREESTONE_F32, {7}, bias)}}};
  }

  std::vector<float> weight, bias;
  TrainingState state;
  std::vector<TensorGroup> groups;
};

bool tellsItsStep(const Checkpoint &checkpoint) {
  for (const char *group : {"parameters", "optimizer"}) {
    if (checkpoint.tensors(group).empty())
      return false;
    for (const formats::TensorView &tensor : checkpoint.tensors(group))
      for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
        float value;
        std::memcpy(&value, tensor.bytes.data() + i * sizeof(float), sizeof(float));
        if (value != float(checkpoint.state().step))
          return false;
      }
  }
  return true;
}

std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

TEST(Manifest, everyNumberComesBack) {
  Manifest manifest;
  manifest.state = {.step = 123,
                    .seed = UINT64_MAX,
                    .lossScale = 65536,
                    .data = {124, 3, int64_t(1) << 40},
                    .numbers = {{"third", 1.0 / 3}, {"tiny", 5e-324}, {"best", INFINITY}, {"worst", -INFINITY}},
                    .texts = {{"options", "--lr \"1e-3\"\n\xff \"checksum\": \"0"}}};
  manifest.files = {{"parameters.safetensors", "parameters", 100, "00"}};
  Manifest parsed = parseManifest(formatManifest(manifest));
  EXPECT_EQ(parsed.state.step, 123);
  EXPECT_EQ(parsed.state.seed, UINT64_MAX);
  EXPECT_EQ(parsed.state.lossScale, 65536);
  EXPECT_EQ(parsed.state.data, manifest.state.data);
  EXPECT_EQ(parsed.state.numbers, manifest.state.numbers);
  EXPECT_EQ(parsed.files[0].name, "parameters.safetensors");
  EXPECT_EQ(formatManifest(parsed), formatManifest(manifest));
}

TEST(Manifest, nothingDamagedIsAccepted) {
  std::string text = formatManifest({});
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_NE(messageOf<Error>([&] { parseManifest(text.substr(0, i)); }), "") << i;
    std::string damaged = text;
    damaged[i] ^= 1;
    EXPECT_NE(messageOf<Error>([&] { parseManifest(damaged); }), "") << i;
  }
}

TEST(Durable, checksumsOfPiecesAreThoseOfTheWhole) {
  std::string text(100000, 'x');
  Checksum sum;
  for (size_t at = 0; at < text.size(); at += 777)
    sum.add(asBytes(text).subspan(at, std::min<size_t>(777, text.size() - at)));
  EXPECT_EQ(sum.text(), checksumOf(asBytes(text)));
  EXPECT_EQ(checksumOf({}), "99aa06d3014798d86001c324468d497f"); // of no bytes, as of xxhsum -H2
}

TEST(Checkpoint, isRestoredBitByBit) {
  Folder folder;
  Model model(12);
  model.state.data = {12, 1, 40};
  CheckpointFolder checkpoints(folder / "run/checkpoints");
  EXPECT_EQ(checkpoints.save(model.state, model.groups), folder / "run/checkpoints/step-000012");
  EXPECT_EQ(namesIn(folder / "run/checkpoints/step-000012"),
            (std::vector<std::string>{"manifest.json", "optimizer.safetensors", "parameters.safetensors"}));

  for (const char *path : {"run", "run/checkpoints", "run/checkpoints/step-000012"}) {
    std::optional<Checkpoint> checkpoint = CheckpointFolder::newest(folder / path);
    ASSERT_TRUE(checkpoint);
    EXPECT_EQ(checkpoint->state().data, model.state.data);
    std::vector<float> weight(1000), bias(7);
    std::vector<TensorTarget> targets = {{"bias", FREESTONE_F32, {7}, bias.data()},
                                         {"layer/weight", FREESTONE_F32, {1000}, weight.data()}};
    checkpoint->restore("parameters", targets);
    EXPECT_EQ(weight, model.weight);
    EXPECT_EQ(bias, model.bias);
  }
}

TEST(Checkpoint, otherModelsAreNamed) {
  Folder folder;
  Model model(1);
  Checkpoint checkpoint = Checkpoint::open(CheckpointFolder(folder.path()).save(model.state, model.groups));
  std::vector<float> bias(8, -1);
  std::vector<TensorTarget> targets = {{"bias", FREESTONE_F32, {8}, bias.data()},
                                       {"scale", FREESTONE_F32, {}, nullptr}};
  expectError<Error>([&] { checkpoint.restore("parameters", targets); },
                     {"the parameters of ", "step-000001 are not this model's", "'bias' is 7xf32 instead of 8xf32",
                      "'scale' is missing", "'layer/weight' is unknown"});
  EXPECT_EQ(bias, std::vector<float>(8, -1));
}

TEST(Checkpoint, largeGroupsAreCutIntoFiles) {
  Folder folder;
  std::vector<float> values(1000, 5);
  TensorGroup group{"parameters", {}};
  for (int i = 0; i < 10; ++i)
    group.tensors.push_back(viewOf("w" + std::to_string(i), FREESTONE_F32, {1000}, values));
  CheckpointFolder checkpoints(folder.path(), {.chunkBytes = 9000});
  std::string saved = checkpoints.save({.step = 5, .data = {}}, {&group, 1});
  EXPECT_EQ(namesIn(saved).size(), 6u);
  EXPECT_EQ(namesIn(saved)[1], "parameters-00001-of-00005.safetensors");
  EXPECT_EQ(Checkpoint::open(saved).tensors("parameters").size(), 10u);
}

TEST(Checkpoint, keepsTheNewest) {
  Folder folder;
  CheckpointFolder checkpoints(folder.path(), {.keep = 2});
  for (int64_t step : {10, 20, 30, 1000000, 30}) {
    Model model(step);
    checkpoints.save(model.state, model.groups);
    EXPECT_TRUE(fs::exists(folder / ("step-0000" + std::to_string(step))) || step > 30);
  }
  EXPECT_EQ(namesIn(folder.path()), (std::vector<std::string>{"step-000030", "step-1000000"}));
  EXPECT_EQ(CheckpointFolder::newest(folder.path())->state().step, 1000000);
}

TEST(Checkpoint, damagedOnesArePassedOver) {
  Folder folder;
  CheckpointFolder checkpoints(folder.path(), {.keep = 10});
  for (int64_t step = 1; step <= 5; ++step) {
    Model model(step);
    checkpoints.save(model.state, model.groups);
  }
  fs::remove(folder / "step-000005/manifest.json");
  std::string file = folder / "step-000004/parameters.safetensors", content = readText(file);
  content[content.size() / 2] ^= 1;
  writeText(file, content);
  fs::resize_file(folder / "step-000003/optimizer.safetensors", 70);
  fs::remove(folder / "step-000002/optimizer.safetensors");
  std::vector<std::string> reasons;
  std::optional<Checkpoint> checkpoint =
      CheckpointFolder::newest(folder.path(), [&](const std::string &reason) { reasons.push_back(reason); });
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->state().step, 1);
  ASSERT_EQ(reasons.size(), 4u);
  EXPECT_NE(reasons[0].find("step-000005/manifest.json: it can't be read"), std::string::npos) << reasons[0];
  EXPECT_NE(reasons[1].find("parameters.safetensors: its checksum is wrong"), std::string::npos) << reasons[1];
  EXPECT_NE(reasons[2].find("optimizer.safetensors: it has 70 bytes instead of "), std::string::npos) << reasons[2];
  EXPECT_NE(reasons[3].find("No such file"), std::string::npos) << reasons[3];
  expectError<Error>([&] { CheckpointFolder::newest(folder / "nothing"); }, {"no folder"});
  fs::create_directory(folder / "empty");
  EXPECT_FALSE(CheckpointFolder::newest(folder / "empty"));
}

TEST(Checkpoint, oneWriterAtATime) {
  Folder folder;
  CheckpointFolder first(folder.path());
  expectError<Error>([&] { CheckpointFolder(folder.path()); }, {"another process"});
}

TEST(Checkpoint, aFullDiskLeavesTheOldOnes) {
  Folder folder;
  Model model(1), next(2);
  CheckpointFolder checkpoints(folder.path(), {.keep = 1});
  checkpoints.save(model.state, model.groups);
  next.groups[1].name = "no/folder";
  expectError<Error>([&] { checkpoints.save(next.state, next.groups); }, {"can't create", "no/folder"});
  EXPECT_EQ(namesIn(folder.path()), std::vector<std::string>{"step-000001"});
}

/// Saves checkpoints one after another, and reports each.
[[noreturn]] static void saveUntilKilled(const std::string &path, int64_t step, int done) {
  CheckpointFolder checkpoints(path, {.keep = 2, .chunkBytes = 50000});
  while (true) {
    // Every third step is saved twice, which replaces a checkpoint.
    Model model(step, 20000);
    checkpoints.save(model.state, model.groups);
    if (write(done, &step, sizeof(step)) != sizeof(step))
      _exit(1);
    if (step % 3 == 0)
      checkpoints.save(model.state, model.groups);
    ++step;
  }
}

/// Microseconds for one checkpoint: the kills must hit writes even on a busy disk.
static int saveTime() {
  Folder folder;
  CheckpointFolder checkpoints(folder.path());
  auto begin = std::chrono::steady_clock::now();
  for (int64_t step = 1; step <= 10; ++step) {
    Model model(step, 20000);
    checkpoints.save(model.state, model.groups);
  }
  auto time = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
  return static_cast<int>(std::clamp<int64_t>(time / 10, 1000, 100000));
}

TEST(Checkpoint, survivesTwoHundredKills) {
  Folder folder;
  int longest = 4 * saveTime();
  std::mt19937 random(1);
  int64_t done = 0, begun = 0, leftovers = 0;
  for (int round = 0; round < 200; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      saveUntilKilled(folder.path(), done + 1, pipe[1]);
    close(pipe[1]);
    usleep(std::uniform_int_distribution<int>(0, longest)(random));
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    while (read(pipe[0], &done, sizeof(done)) == sizeof(done))
      ;
    close(pipe[0]);

    int complete = 0;
    for (const std::string &name : namesIn(folder.path())) {
      if (name.starts_with(".")) {
        ++leftovers;
        continue;
      }
      ++complete;
      EXPECT_TRUE(tellsItsStep(Checkpoint::open(folder / name))) << name;
    }
    std::optional<Checkpoint> newest = CheckpointFolder::newest(folder.path());
    ASSERT_EQ(newest.has_value(), complete > 0);
    int64_t step = newest ? newest->state().step : 0;
    EXPECT_GE(step, done);
    EXPECT_LE(step, done + 1);
    // On a machine that slows down, rounds grow until some of them save again.
    longest = step == begun ? longest + longest / 10 : std::max(1000, longest - longest / 20);
    begun = done = step;
  }
  Model model(done + 1);
  CheckpointFolder(folder.path(), {.keep = 2}).save(model.state, model.groups);
  EXPECT_EQ(namesIn(folder.path()).size(), 2u);
  // Otherwise the kills hit idle moments, and nothing was tested.
  EXPECT_GT(leftovers, 50);
  EXPECT_GT(done, 20);
}
