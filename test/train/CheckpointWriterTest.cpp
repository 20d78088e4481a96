#include "train/checkpoint/CheckpointWriter.h"
#include "test/train/Files.h"
#include "train/Error.h"
#include "train/checkpoint/CheckpointFolder.h"
#include <atomic>
#include <fmt/format.h>
#include <thread>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;

namespace {

/// A state that the training changes.
struct ChangingModel {
  std::vector<float> weight = std::vector<float>(100000), moment = std::vector<float>(1000);

  void step() {
    for (std::vector<float> *values : {&weight, &moment})
      for (float &value : *values)
        ++value;
  }
  std::vector<TensorGroup> groups() const {
    return {{"parameters", {viewOf("weight", FREESTONE_F32, {100000}, weight)}},
            {"optimizer", {viewOf("moment", FREESTONE_F32, {1000}, moment)}}};
  }
};

TrainingState stateOf(int64_t step) {
  TrainingState state;
  state.step = step;
  return state;
}

/// The value of all elements of a checkpoint, or -1.
float valueIn(const std::string &folder) {
  Checkpoint checkpoint = Checkpoint::open(folder);
  float first = -1;
  for (const char *group : {"parameters", "optimizer"})
    for (const formats::TensorView &tensor : checkpoint.tensors(group))
      for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
        float value;
        std::memcpy(&value, tensor.bytes.data() + i * sizeof(float), sizeof(float));
        if (first < 0)
          first = value;
        if (value != first)
          return -1;
      }
  return first;
}

CheckpointWriter::Store savingTo(CheckpointFolder &folder) {
  return [&](const TrainingState &state, std::span<const TensorGroup> groups) { return folder.save(state, groups); };
}

} // namespace

TEST(CheckpointWriter, writesTheStateOfOneStepWhileTrainingGoesOn) {
  test::Folder folder;
  CheckpointFolder checkpoints(folder / "checkpoints", {.keep = 100});
  std::atomic<int> copies = 0, writes = 0;
  {
    CheckpointWriter writer(savingTo(checkpoints),
                            [&](const char *, const char *what, int64_t begin, int64_t end, int64_t) {
                              EXPECT_LE(begin, end);
                              ++(std::string(what) == "copy the state" ? copies : writes);
                            });
    ChangingModel model;
    std::vector<std::string> written;
    for (int64_t step = 1; step <= 40; ++step) {
      model.step();
      if (step % 4 == 0) {
        writer.begin(stateOf(step), model.groups());
        // Copied by another thread, as by the runtime's queue.
        std::thread(&CheckpointWriter::copy, &writer).join();
        writer.write();
      }
      if (std::optional<std::string> path = writer.takeWritten())
        written.push_back(*path);
    }
    writer.finish();
    if (std::optional<std::string> path = writer.takeWritten())
      written.push_back(*path);
    EXPECT_GE(written.size(), 1u);
    EXPECT_EQ(written.back(), folder / "checkpoints/step-000040");
    for (int64_t step = 4; step <= 40; step += 4)
      EXPECT_EQ(valueIn(fmt::format("{}/checkpoints/step-{:06}", folder.path(), step)), static_cast<float>(step));
  }
  EXPECT_EQ(copies, 10);
  EXPECT_EQ(writes, 10);
}

TEST(CheckpointWriter, writesNothingBeforeItIsToldTo) {
  test::Folder folder;
  CheckpointFolder checkpoints(folder / "checkpoints");
  ChangingModel model;
  {
    CheckpointWriter writer(savingTo(checkpoints));
    writer.begin(stateOf(1), model.groups());
    writer.copy();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(CheckpointFolder::newest(folder / "checkpoints"));
    writer.write();
    writer.finish();
    EXPECT_TRUE(CheckpointFolder::newest(folder / "checkpoints"));
    // Begun but never copied, as after a failed step: finishing must not wait for the copy.
    writer.begin(stateOf(2), model.groups());
    writer.write();
  }
  EXPECT_EQ(CheckpointFolder::newest(folder / "checkpoints").value().state().step, 1);
}

TEST(CheckpointWriter, throwsWhatTheWritingMetAtTheNextCall) {
  test::Folder folder;
  CheckpointFolder checkpoints(folder / "checkpoints");
  CheckpointWriter writer(savingTo(checkpoints));
  ChangingModel model;
  auto save = [&](int64_t step) {
    writer.begin(stateOf(step), model.groups());
    writer.copy();
    writer.write();
  };
  std::filesystem::remove_all(folder / "checkpoints");
  save(1);
  EXPECT_THROW(save(2), Error);
  std::filesystem::create_directories(folder / "checkpoints");
  save(3);
  writer.finish();
  EXPECT_EQ(CheckpointFolder::newest(folder / "checkpoints").value().state().step, 3);
}
