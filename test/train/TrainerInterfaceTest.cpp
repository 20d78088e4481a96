// The trainer as an application sees it: through its header and its library alone. Run with the path of the MLP's
// model.
#include "test/train/Files.h"

#include <freestone/trainer.h>
#include <random>
#include <set>
#include <unistd.h>

using namespace freestone;
using freestone::test::expectError;

namespace {

const char *modelPath = nullptr;

/// A batch of noise with one of ten bands a little brighter.
struct Images {
  explicit Images(unsigned seed, int64_t count = 16) : x(count * 784), y(count) {
    std::mt19937 random(seed);
    std::normal_distribution<float> noise;
    for (int64_t i = 0; i < count; ++i) {
      y[i] = static_cast<int64_t>(random() % 10);
      for (int64_t p = 0; p < 784; ++p)
        x[i * 784 + p] = noise(random) + (p * 10 / 784 == y[i] ? 0.5f : 0.0f);
    }
  }
  Trainer::Batch asBatch() {
    auto count = static_cast<int64_t>(y.size());
    return {{"x", {x.data(), {count, 784}}}, {"y", {y.data(), {count}}}};
  }

  std::vector<float> x;
  std::vector<int64_t> y;
};

TrainerOptions options() { return {.labels = "y", .numbers = {{"learning_rate", 1e-3}}, .threads = 1, .seed = 1}; }

std::vector<double> lossesOf(Trainer &trainer, unsigned from, unsigned to) {
  std::vector<double> losses;
  for (unsigned step = from; step < to; ++step)
    losses.push_back(trainer.step(Images(step, 16 + step % 3).asBatch()).loss);
  return losses;
}

TEST(TrainerInterface, LearnsAndGoesOnWhereItWasSaved) {
  test::Folder folder;
  Trainer trainer(modelPath, options());
  std::string saved;
  trainer.onSave([&](const std::string &path) { saved = path; });
  std::vector<double> first = lossesOf(trainer, 0, 10);
  EXPECT_LT(first.back(), first.front());
  trainer.save(folder.path());
  EXPECT_TRUE(std::filesystem::exists(saved + "/manifest.json"));
  std::vector<double> rest = lossesOf(trainer, 10, 14);

  Trainer other(modelPath, options());
  other.load(folder.path());
  EXPECT_EQ(lossesOf(other, 10, 14), rest);
  EXPECT_EQ(other.step(Images(1).asBatch()).step, 15);
  Images heldOut(99, 64);
  EvaluationReport report = trainer.evaluate(heldOut.asBatch());
  EXPECT_EQ(report.count, 64);
  EXPECT_GT(report.accuracy.value(), 0.2);

  trainer.exportModel(folder / "trained.onnx");
  Trainer again(folder / "trained.onnx", options());
  EXPECT_EQ(again.evaluate(heldOut.asBatch()).loss, report.loss);
}

TEST(TrainerInterface, WrongBatchesAreRefusedAndChangeNothing) {
  test::Folder folder;
  Trainer trainer(modelPath, options());
  trainer.save(folder.path());
  std::vector<double> undisturbed = lossesOf(trainer, 0, 3);
  trainer.load(folder.path());
  Images images(3);
  auto refused = [&](Trainer::Batch batch, std::initializer_list<const char *> parts) {
    expectError<Error>([&] { trainer.step(batch); }, parts);
  };
  Trainer::Batch whole = images.asBatch();
  refused({whole[0]}, {"'y'", "once"});
  refused({whole[0], whole[1], whole[1]}, {"'y'", "once"});
  refused({whole[0], {"z", whole[1].second}}, {"no input 'z'"});
  refused({{"x", {images.x.data(), {784, 16}}}, whole[1]}, {"784"});
  refused({{"x", {images.x.data(), {16 * 784}}}, whole[1]}, {"'x'", "12544xf32", "[batch, 784]"});
  std::vector<double> doubles(16 * 784);
  refused({{"x", {doubles.data(), {16, 784}}}, whole[1]}, {"16x784xf64"});
  images.y[5] = 10;
  refused(images.asBatch(), {"'y', element 5", "10", "0 to 9"});
  EXPECT_EQ(lossesOf(trainer, 0, 3), undisturbed);
}

TEST(TrainerInterface, NumbersChangeFromStepToStep) {
  Trainer trainer(modelPath, options());
  Images images(1);
  double before = trainer.evaluate(images.asBatch()).loss;
  trainer.setNumber("learning_rate", 0);
  EXPECT_EQ(trainer.step(images.asBatch()).learningRate, 0);
  EXPECT_EQ(trainer.evaluate(images.asBatch()).loss, before);
  EXPECT_EQ(trainer.number("beta1"), 0.9);
  expectError<Error>([&] { trainer.setNumber("learningrate", 1); }, {"'learningrate'", "learning_rate"});
  expectError<Error>([&] { (void)trainer.number("rate"); }, {"'rate'"});
}

TEST(TrainerInterface, FitsFilesUntilItIsStopped) {
  test::Folder folder;
  Images images(1, 200);
  test::writeText(folder / "x.npy", test::npy(FREESTONE_F32, {200, 784}, images.x));
  test::writeText(folder / "y.npy", test::npy(FREESTONE_I64, {200}, images.y));
  std::vector<std::string> data = {folder / "x.npy", folder / "y.npy"};
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> nowhere(std::fopen("/dev/null", "w"), std::fclose);
  FitOptions fit{.data = data,
                 .evaluationData = data,
                 .folder = folder / "run",
                 .batch = 64,
                 .epochs = 5,
                 .report = nowhere.get()};

  Trainer trainer(modelPath, options());
  int64_t steps = 0, evaluations = 0;
  trainer.onStep([&](const StepReport &report) { return (steps = report.step) < 6; });
  trainer.onEvaluation([&](const EvaluationReport &) { ++evaluations; });
  std::optional<EvaluationReport> report = trainer.fit(fit);
  EXPECT_EQ(steps, 6);
  EXPECT_EQ(evaluations, 1);
  EXPECT_EQ(report.value().count, 200);

  fit.resume = true;
  trainer.onStep({});
  EXPECT_GT(trainer.fit(fit).value().accuracy.value(), 0.9);
  EXPECT_EQ(evaluations, 5);
  // Of 20 steps in 5 epochs; other batches make other steps, and the data may end before all of them are done.
  fit.batch = 25;
  fit.epochs = 7;
  trainer.fit(fit);
  EXPECT_EQ(evaluations, 7);
  EXPECT_EQ(trainer.step(Images(2).asBatch()).step, 20 + 2 * 8 + 1);
  fit.schedule = "steps";
  expectError<Error>([&] { trainer.fit(fit); }, {"'steps'", "one-cycle"});
}

TEST(TrainerInterface, GoesOnAfterAnError) {
  test::Folder folder;
  Images images(1, 200);
  test::writeText(folder / "x.npy", test::npy(FREESTONE_F32, {200, 784}, images.x));
  test::writeText(folder / "y.npy", test::npy(FREESTONE_I64, {200}, images.y));
  images.x[150 * 784] = std::numeric_limits<float>::quiet_NaN();
  test::writeText(folder / "bad.npy", test::npy(FREESTONE_F32, {200, 784}, images.x));
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> nowhere(std::fopen("/dev/null", "w"), std::fclose);
  FitOptions fit{.data = {"x=" + (folder / "bad.npy"), folder / "y.npy"},
                 .folder = folder / "bad",
                 .schedule = "cosine",
                 .batch = 50,
                 .epochs = 2,
                 .noShuffle = true,
                 .report = nowhere.get()};
  Trainer trainer(modelPath, options());
  expectError<Error>([&] { trainer.fit(fit); }, {"'x'", "150"});
  EXPECT_EQ(trainer.number("learning_rate"), 1e-3); // the schedule's end is not the next one's beginning
  EXPECT_EQ(trainer.step(Images(2).asBatch()).step, 4);

  fit.data.front() = folder / "x.npy";
  fit.folder = folder / "good";
  fit.steps = 3;
  Trainer other(modelPath, options());
  other.fit(fit);
  EXPECT_EQ(other.number("learning_rate"), 1e-3);
  // Saved elsewhere, it knows where the data go on.
  other.save(folder / "moved/checkpoints");
  fit.resume = true;
  fit.steps = {};
  Trainer again(modelPath, options());
  fit.folder = folder / "moved";
  again.fit(fit);
  EXPECT_EQ(again.step(Images(2).asBatch()).step, 9);
}

TEST(TrainerInterface, AccumulatesSavesAndEvaluatesAsAsked) {
  test::Folder folder;
  TrainerOptions sums = options();
  sums.accumulate = 2;
  Images whole(5, 48);
  auto part = [&](int64_t from, int64_t count) -> Trainer::Batch {
    return {{"x", {whole.x.data() + from * 784, {count, 784}}}, {"y", {whole.y.data() + from, {count}}}};
  };
  Trainer accumulating(modelPath, sums), plain(modelPath, options());
  accumulating.accumulate(part(0, 16));
  StepReport summed = accumulating.step(part(16, 32)), atOnce = plain.step(whole.asBatch());
  EXPECT_NEAR(summed.loss, atOnce.loss, 1e-6 * atOnce.loss);
  EXPECT_NEAR(summed.gradientNorm, atOnce.gradientNorm, 1e-4 * atOnce.gradientNorm);
  EXPECT_EQ(summed.step, 1);
  expectError<Error>([&] { plain.accumulate(whole.asBatch()); }, {"accumulate"});

  Images images(1, 200);
  test::writeText(folder / "x.npy", test::npy(FREESTONE_F32, {200, 784}, images.x));
  test::writeText(folder / "y.npy", test::npy(FREESTONE_I64, {200}, images.y));
  std::vector<std::string> data = {folder / "x.npy", folder / "y.npy"};
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> nowhere(std::fopen("/dev/null", "w"), std::fclose);
  FitOptions fit{.data = data,
                 .evaluationData = data,
                 .folder = folder / "run",
                 .schedule = "step",
                 .stepSize = 2,
                 .batch = 10,
                 .saveEvery = 2,
                 .evalEvery = 4,
                 .keep = 2,
                 .report = nowhere.get()};
  int64_t evaluations = 0, saves = 0;
  double rate = 0;
  accumulating.onEvaluation([&](const EvaluationReport &) { ++evaluations; });
  accumulating.onSave([&](const std::string &) { ++saves; });
  accumulating.onStep([&](const StepReport &report) { return (rate = report.learningRate) > 0; });
  accumulating.fit(fit);
  EXPECT_EQ(evaluations, 3); // after steps 4, 8 and the last
  EXPECT_EQ(saves, 5);
  EXPECT_NEAR(rate, 1e-7, 1e-12);
  auto folders = std::filesystem::directory_iterator(folder / "run/checkpoints");
  EXPECT_EQ(std::distance(begin(folders), end(folders)), 2);
}

TEST(TrainerInterface, TakesEveryOptionOfTheCommand) {
  TrainerOptions all = options();
  all.classWeights.assign(10, 1);
  all.classWeights[3] = 2;
  all.moments = "bf16";
  all.recompute = "blocks";
  all.precision = "bf16";
  all.initialScale = 1024;
  all.noDecay = {"*b*"};
  all.groups = {{"*", {{"learning_rate", 1e-2}, {"weight_decay", 0}}}};
  // Compiled anew, whatever the cache holds: nobody has smoothed labels by this number.
  all.labelSmoothing = 0.1 + 1e-9 * static_cast<double>(getpid());
  std::set<std::string> phases;
  all.onCompile = [&](const std::string &phase, int64_t, int64_t) { phases.insert(phase); };
  Trainer trainer(modelPath, all);
  EXPECT_TRUE(phases.contains("import") && phases.contains("code"));
  EXPECT_EQ(trainer.number("learning_rate_factor/*"), 10);
  EXPECT_EQ(trainer.number("weight_decay/*"), 0);
  EXPECT_EQ(trainer.step(Images(1).asBatch()).lossScale, 1024);
  all.noLossScaling = true;
  expectError<Error>([&] { Trainer(modelPath, all); }, {"scale"});
  all = options();
  all.classWeights = {1, 2};
  expectError<Error>([&] { Trainer(modelPath, all); }, {"2 class weights", "10"});
}

TEST(TrainerInterface, WhatCanNotBeTrainedIsSaidInASentence) {
  expectError<Error>([] { Trainer("there-is-none.onnx"); }, {"there-is-none.onnx"});
  TrainerOptions unknown = options();
  unknown.optimizer = "adamx";
  expectError<Error>([&] { Trainer(modelPath, unknown); }, {"adamx"});
  unknown = options();
  unknown.precision = "fp8";
  expectError<Error>([&] { Trainer(modelPath, unknown); }, {"fp8"});
  unknown = options();
  unknown.freeze = {"nothing.*"};
  expectError<Error>([&] { Trainer(modelPath, unknown); }, {"nothing.*"});
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2)
    return std::fprintf(stderr, "usage: trainer-interface mlp.onnx\n"), 2;
  modelPath = argv[1];
  return RUN_ALL_TESTS();
}
