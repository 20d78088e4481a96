// Trainings with the hand-written step `Learn` on files, without the compiler.
#ifndef FREESTONE_TEST_TRAIN_LEARNING_H
#define FREESTONE_TEST_TRAIN_LEARNING_H

#include "test/runtime/Programs.h"
#include "test/train/Files.h"
#include "train/data/ArrayDataset.h"
#include "train/run/TrainingRun.h"
#include "train/step/StepTrainer.h"
#include <cstring>
#include <random>

namespace freestone::test {

inline constexpr int64_t samples = 200, batch = 10, epochs = 3, steps = epochs * samples / batch;

struct SampleFiles {
  SampleFiles() {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> x(samples * 4), y(samples);
    for (float &value : x)
      value = uniform(random);
    for (int64_t i = 0; i < samples; ++i)
      y[i] = x[4 * i] - 2 * x[4 * i + 1] + 3 * x[4 * i + 2] - 4 * x[4 * i + 3];
    writeText(folder / "x.npy", npy(FREESTONE_F32, {samples, 4}, x));
    writeText(folder / "y.npy", npy(FREESTONE_F32, {samples}, y));
  }

  Folder folder;
};

/// Trains on samples of a linear function.
class Learning : public testing::Test {
protected:
  train::TrainingOptions optionsFor(const std::string &folder) const {
    train::TrainingOptions options;
    options.folder = data.folder / folder;
    options.schedule.rate = 0.3;
    options.batch = batch;
    options.epochs = epochs;
    options.saveEvery = 7;
    options.evalEvery = 11;
    options.report = nowhere.get();
    return options;
  }
  train::StepTrainer trainer(train::Execution execution = {2}) const {
    train::StepDescription about;
    about.labels = "y";
    about.hyperparameters = {{"learning_rate", 0.1}};
    about.parameters = {{.name = "w", .shape = {4}, .trained = true}};
    return {artifact, about, execution, 0};
  }
  train::TrainingResult run(train::Trainer &trainer, const train::TrainingOptions &options) const {
    std::vector<train::Field> fields;
    for (const ValueInfo &input : trainer.dataInputs())
      fields.push_back({input.name, input.dtype, input.shape});
    train::ArrayFiles files = train::ArrayFiles::open({data.folder / "x.npy", data.folder / "y.npy"});
    train::ArrayDataset dataset(files, fields);
    return train::train(trainer, dataset, &dataset, options);
  }
  static std::vector<float> weightsOf(const train::StepTrainer &trainer) {
    std::vector<float> weights(4);
    std::memcpy(weights.data(), trainer.weights().at(0).bytes.data(), sizeof(float) * weights.size());
    return weights;
  }

  SampleFiles data;
  std::vector<uint8_t> bytes = packProgram("Learn", describeLearn());
  Artifact artifact = Artifact::loadMemory(bytes.data(), bytes.size());
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> nowhere{std::fopen("/dev/null", "w"), std::fclose};
};

} // namespace freestone::test

#endif // FREESTONE_TEST_TRAIN_LEARNING_H
