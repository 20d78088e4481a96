// Trains a classifier of 784 numbers, such as test/models/mlp.onnx with weights, on synthetic images:
//   train_model mlp.onnx trained.onnx
#include <freestone/trainer.h>

#include <cstdio>
#include <random>

namespace {

constexpr int64_t batch = 64, pixels = 784, classes = 10;

/// Noise in which one of ten bands is brighter; the label is its index.
struct Images {
  explicit Images(std::mt19937 &random) : values(batch * pixels), labels(batch) {
    std::normal_distribution<float> noise;
    for (int64_t i = 0; i < batch; ++i) {
      labels[i] = static_cast<int64_t>(random() % classes);
      for (int64_t p = 0; p < pixels; ++p)
        values[i * pixels + p] = noise(random) + (p * classes / pixels == labels[i] ? 0.5f : 0.0f);
    }
  }
  freestone::Trainer::Batch asBatch() {
    return {{"x", {values.data(), {batch, pixels}}}, {"y", {labels.data(), {batch}}}};
  }

  std::vector<float> values;
  std::vector<int64_t> labels;
};

} // namespace

int main(int argc, char **argv) try {
  if (argc != 3)
    return std::fprintf(stderr, "usage: train_model MODEL.onnx TRAINED.onnx\n"), 2;
  freestone::Trainer trainer(argv[1],
                             {.labels = "y", .optimizer = "adamw", .numbers = {{"learning_rate", 1e-3}}, .seed = 1});
  trainer.onStep([](const freestone::StepReport &report) {
    if (report.step % 10 == 0)
      std::printf("step %lld: loss %.4f\n", static_cast<long long>(report.step), report.loss);
    return true;
  });

  std::mt19937 random(1);
  Images heldOut(random);
  for (int step = 0; step < 50; ++step)
    trainer.step(Images(random).asBatch());
  std::string folder = std::string(argv[2]) + ".checkpoints";
  trainer.save(folder);
  trainer.load(folder);
  freestone::EvaluationReport report = trainer.evaluate(heldOut.asBatch());
  std::printf("held out: loss %.4f, %.1f %% right\n", report.loss, 100 * report.accuracy.value());
  trainer.exportModel(argv[2]);
  return 0;
} catch (const freestone::Error &error) {
  std::fprintf(stderr, "train_model: %s\n", error.what());
  return 1;
}
