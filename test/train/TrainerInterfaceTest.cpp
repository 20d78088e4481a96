// The trainer as seen by an application: through its header and its library alone. Run with the path of the MLP's
// model.
#include "test/train/Files.h"

#include <cmath>
#include <freestone/trainer.h>
#include <random>
#include <set>
#include <unistd.h>

using namespace freestone;
using freestone::test::expectError;

namespace {

const char *modelPath = nullptr;

/// A batch of noise with one of ten bands brighter.
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

/// Files of 200 images.
struct ImageFiles {
  ImageFiles() {
    write("x", images.x);
    test::writeText(folder / "y.npy", test::npy(FREESTONE_I64, {200}, images.y));
  }
  void write(const std::string &name, const std::vector<float> &pictures) {
    test::writeText(folder / (name + ".npy"), test::npy(FREESTONE_F32, {200, 784}, pictures));
  }

  test::Folder folder;
  Images images{1, 200};
  std::vector<std::string> data = {folder / "x.npy", folder / "y.npy"};
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> nowhere{std::fopen("/dev/null", "w"), std::fclose};
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

/// Files, arrays in memory and batches of the application train to the same numbers.
TEST(TrainerInterface, TrainsFromFilesArraysAndBatches) {
  ImageFiles files;
  std::vector<std::vector<double>> losses(3);
  test::Folder folder;
  FitOptions fit;
  fit.noShuffle = true;
  fit.batch = 50;
  fit.epochs = 2;
  fit.schedule = "cosine";
  fit.report = files.nowhere.get();
  auto train = [&](size_t kind, auto &&call) {
    Trainer trainer(modelPath, options());
    trainer.onStep([&](const StepReport &report) {
      losses[kind].push_back(report.loss);
      return true;
    });
    fit.folder = folder / std::to_string(kind);
    call(trainer);
  };
  train(0, [&](Trainer &trainer) {
    FitOptions byFiles = fit;
    byFiles.data = files.data;
    trainer.fit(byFiles);
  });
  train(1, [&](Trainer &trainer) {
    FitOptions byArrays = fit;
    byArrays.arrays = byArrays.evaluationArrays = files.images.asBatch();
    EXPECT_EQ(trainer.fit(byArrays).value().count, 200);
  });
  train(2, [&](Trainer &trainer) {
    int64_t next = 0, current = 0;
    auto batches = [&](int64_t epoch) -> std::optional<Trainer::Batch> {
      if (epoch != std::exchange(current, epoch))
        next = 0;
      if (next == 4)
        return std::nullopt;
      int64_t first = 50 * next++;
      return Trainer::Batch{{"x", {files.images.x.data() + first * 784, {50, 784}}},
                            {"y", {files.images.y.data() + first, {50}}}};
    };
    expectError<Error>([&] { trainer.fit({batches}, fit); }, {"number of steps"});
    next = 0;
    trainer.fit({batches, 4}, fit);
  });
  EXPECT_EQ(losses[0].size(), 8u);
  EXPECT_EQ(losses[1], losses[0]);
  EXPECT_EQ(losses[2], losses[0]);
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
  ImageFiles files;
  test::Folder &folder = files.folder;
  FitOptions fit{.data = files.data,
                 .evaluationData = files.data,
                 .folder = folder / "run",
                 .batch = 64,
                 .epochs = 5,
                 .report = files.nowhere.get()};

  Trainer trainer(modelPath, options());
  int64_t steps = 0, evaluations = 0;
  trainer.onStep([&](const StepReport &report) { return (steps = report.step) < 6; });
  trainer.onEvaluation([&](const EvaluationReport &) { ++evaluations; });
  std::optional<EvaluationReport> report = trainer.fit(fit);
  EXPECT_EQ(steps, 7) << "one was under way when the sixth was told";
  EXPECT_EQ(evaluations, 1);
  EXPECT_EQ(report.value().count, 200);

  fit.resume = true;
  trainer.onStep({});
  EXPECT_GT(trainer.fit(fit).value().accuracy.value(), 0.9);
  EXPECT_EQ(evaluations, 5);
  // 20 steps in 5 epochs; another batch size gives other steps, and the data may end before all are done.
  fit.batch = 25;
  fit.epochs = 7;
  trainer.fit(fit);
  EXPECT_EQ(evaluations, 7);
  EXPECT_EQ(trainer.step(Images(2).asBatch()).step, 20 + 2 * 8 + 1);
  fit.schedule = "steps";
  expectError<Error>([&] { trainer.fit(fit); }, {"'steps'", "one-cycle"});
}

TEST(TrainerInterface, GoesOnAfterAnError) {
  ImageFiles files;
  test::Folder &folder = files.folder;
  files.images.x[150 * 784] = std::numeric_limits<float>::quiet_NaN();
  files.write("bad", files.images.x);
  FitOptions fit{.data = {"x=" + (folder / "bad.npy"), folder / "y.npy"},
                 .folder = folder / "bad",
                 .schedule = "cosine",
                 .batch = 50,
                 .epochs = 2,
                 .noShuffle = true,
                 .report = files.nowhere.get()};
  Trainer trainer(modelPath, options());
  expectError<Error>([&] { trainer.fit(fit); }, {"'x'", "150"});
  EXPECT_EQ(trainer.number("learning_rate"), 1e-3); // the next training does not begin with the schedule's last rate
  EXPECT_EQ(trainer.step(Images(2).asBatch()).step, 4);

  fit.data.front() = folder / "x.npy";
  fit.folder = folder / "good";
  fit.steps = 3;
  Trainer other(modelPath, options());
  other.fit(fit);
  EXPECT_EQ(other.number("learning_rate"), 1e-3);
  // Saved elsewhere, it knows the position in the data.
  other.save(folder / "moved/checkpoints");
  fit.resume = true;
  fit.steps = {};
  Trainer again(modelPath, options());
  fit.folder = folder / "moved";
  again.fit(fit);
  EXPECT_EQ(again.step(Images(2).asBatch()).step, 9);
}

TEST(TrainerInterface, AccumulatesSavesAndEvaluatesAsAsked) {
  ImageFiles files;
  test::Folder &folder = files.folder;
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

  FitOptions fit{.data = files.data,
                 .evaluationData = files.data,
                 .folder = folder / "run",
                 .schedule = "step",
                 .scheduleNumbers = {{"step_size", 2}, {"gamma", 0.5}},
                 .batch = 10,
                 .saveEvery = 2,
                 .evalEvery = 4,
                 .keep = 2,
                 .report = files.nowhere.get()};
  int64_t evaluations = 0, saves = 0;
  double rate = 0;
  accumulating.onEvaluation([&](const EvaluationReport &) { ++evaluations; });
  accumulating.onSave([&](const std::string &) { ++saves; });
  accumulating.onStep([&](const StepReport &report) { return (rate = report.learningRate) > 0; });
  accumulating.fit(fit);
  EXPECT_EQ(evaluations, 3); // after steps 4, 8 and the last
  EXPECT_EQ(saves, 5);
  EXPECT_NEAR(rate, 1e-3 / 16, 1e-12); // the last of ten steps
  auto folders = std::filesystem::directory_iterator(folder / "run/checkpoints");
  EXPECT_EQ(std::distance(begin(folders), end(folders)), 2);
}

TEST(TrainerInterface, SchedulesByPyTorchsNumbers) {
  ImageFiles files;
  FitOptions fit{.data = files.data,
                 .folder = files.folder / "run",
                 .schedule = "one-cycle",
                 .scheduleNumbers = {{"div_factor", 10}, {"final_div_factor", 100}, {"max_momentum", 0.92}},
                 .batch = 50,
                 .readEachStep = true, // numbers are those of the reported step
                 .report = files.nowhere.get()};
  Trainer trainer(modelPath, options());
  std::vector<double> rates, betas;
  trainer.onStep([&](const StepReport &report) {
    rates.push_back(report.learningRate);
    betas.push_back(trainer.number("beta1"));
    return true;
  });
  trainer.fit(fit);
  ASSERT_EQ(rates.size(), 4u);
  EXPECT_NEAR(rates.front(), 1e-4, 1e-9);
  EXPECT_NEAR(rates.back(), 1e-6, 1e-11);
  // Of the reported step, or of the next one.
  for (double beta : betas)
    EXPECT_TRUE(beta >= 0.85 && beta <= 0.92 && beta != 0.9) << beta;
  EXPECT_EQ(trainer.number("beta1"), 0.9); // as before
  fit.scheduleNumbers = {{"cycle_momentum", 0}};
  fit.folder = files.folder / "other";
  betas.clear();
  trainer.fit(fit);
  EXPECT_EQ(betas, std::vector<double>(4, 0.9));
  fit.scheduleNumbers = {{"gamma", 0.5}};
  expectError<Error>([&] { trainer.fit(fit); }, {"'one-cycle'", "gamma", "pct_start"});

  // The number that a schedule varies must exist.
  TrainerOptions sgd = options();
  sgd.optimizer = "sgd";
  fit.scheduleNumbers = {};
  fit.folder = files.folder / "sgd";
  expectError<Error>([&] { Trainer(modelPath, sgd).fit(fit); }, {"'one-cycle'", "momentum"});
  sgd.numbers["momentum"] = 0.5;
  Trainer(modelPath, sgd).fit(fit);
}

/// A field of a protobuf message, of fewer than 16384 bytes.
std::string field(int number, const std::string &bytes) {
  return std::string{char(number << 3 | 2), char(0x80 | (bytes.size() & 0x7f)), char(bytes.size() >> 7)} + bytes;
}
std::string field(int number, int value) { return {char(number << 3), char(value)}; }

/// tokens i64 [b, s] → logits f32 [b, s, 8], an ONNX model of one Gather.
std::string languageModel() {
  std::string b = field(1, field(2, "b")), s = field(1, field(2, "s")), eight = field(1, field(1, 8));
  auto value = [](const char *name, int type, const std::string &shape) {
    return field(1, name) + field(2, field(1, field(1, type) + field(2, shape)));
  };
  std::vector<float> numbers(8 * 8);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i * 5 % 7) / 7;
  std::string table = field(1, 8) + field(1, 8) + field(2, 1) + field(8, "table") + field(9, test::bytesOf(numbers));
  std::string node = field(1, "table") + field(1, "tokens") + field(2, "logits") + field(4, "Gather");
  std::string graph = field(1, node) + field(2, "g") + field(5, table) + field(11, value("tokens", 7, b + s)) +
                      field(12, value("logits", 1, b + s + eight));
  return field(1, 9) + field(8, field(2, 20)) + field(7, graph);
}

TEST(TrainerInterface, LanguageModelsHaveAPerplexity) {
  test::Folder folder;
  test::writeText(folder / "language.onnx", languageModel());
  TrainerOptions text = options();
  text.labelType = "i32"; // the class axis is the only constant one
  Trainer trainer(folder / "language.onnx", text);
  std::vector<int64_t> tokens = {0, 1, 2, 3, 4, 5};
  std::vector<int32_t> next = {1, 2, 3, 4, 5, 7};
  EvaluationReport report = trainer.evaluate({{"tokens", {tokens.data(), {2, 3}}}, {"y", {next.data(), {2, 3}}}});
  EXPECT_EQ(report.count, 6);
  EXPECT_EQ(report.perplexity.value(), std::exp(report.loss));

  test::writeText(folder / "text.npy", test::npy(FREESTONE_I64, {6}, tokens));
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> nowhere{std::fopen("/dev/null", "w"), std::fclose};
  FitOptions fit{.data = {folder / "text.npy"},
                 .evaluationData = {folder / "text.npy"},
                 .window = "3",
                 .folder = folder / "run",
                 .batch = 2,
                 .report = nowhere.get()};
  report = trainer.fit(fit).value();
  EXPECT_EQ(report.perplexity.value(), std::exp(report.loss));
  text.labelType = "int";
  expectError<Error>([&] { Trainer(folder / "language.onnx", text); }, {"'int'"});
  // Without a text there is no perplexity.
  EXPECT_FALSE(Trainer(modelPath, options()).evaluate(Images(1).asBatch()).perplexity);
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
  // Compiled anew, whatever the cache contains: no other step smooths labels by this number.
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
  expectError<Error>([&] { Trainer(modelPath, unknown); }, {"'adamx'", "sgd", "did you mean 'adam' or 'adamw'?"});
  unknown = options();
  unknown.precision = "fp8";
  expectError<Error>([&] { Trainer(modelPath, unknown); }, {"fp8"});
  for (auto patterns : {&TrainerOptions::freeze, &TrainerOptions::tie, &TrainerOptions::untie}) {
    unknown = options();
    unknown.*patterns = {"nothing.*"};
    expectError<Error>([&] { Trainer(modelPath, unknown); }, {"nothing.*"});
  }
}

TEST(TrainerInterface, NumbersOutOfRangeAreRefusedBeforeAnythingIsCompiled) {
  bool hasCompiled = false;
  auto refuse = [&](auto change, std::initializer_list<const char *> parts) {
    TrainerOptions wrong = options();
    wrong.noCache = true;
    wrong.onCompile = [&](const std::string &phase, int64_t, int64_t) { hasCompiled |= phase != "import"; };
    change(wrong);
    expectError<Error>([&] { Trainer(modelPath, wrong); }, parts);
  };
  refuse([](auto &wrong) { wrong.labelSmoothing = 2; }, {"label-smoothing 2", "from 0 to 1"});
  refuse([](auto &wrong) { wrong.accumulate = 0; }, {"accumulate 0", "whole number from 1"});
  refuse([](auto &wrong) { wrong.threads = -1; }, {"threads -1"});
  refuse([](auto &wrong) { wrong.target = "arm"; }, {"'arm'", "x86-64-v3"});
  refuse([](auto &wrong) { wrong.numbers["learning_rate"] = -1; }, {"learning_rate -1"});
  refuse([](auto &wrong) { wrong.numbers["beta1"] = 1; }, {"beta1 1", "below 1"});
  refuse([](auto &wrong) { wrong.groups = {{"*", {{"eps", NAN}}}}; }, {"eps nan"});
  refuse([](auto &wrong) { wrong.numbers["weight_decya"] = 1; }, {"'weight_decya'", "did you mean 'weight_decay'"});
  EXPECT_FALSE(hasCompiled);

  Trainer trainer(modelPath, options());
  FitOptions fit{.data = {"there-is-none.npz"}};
  fit.batch = 0;
  expectError<Error>([&] { trainer.fit(fit); }, {"batch 0", "whole number from 1"});
  fit.batch = 1;
  fit.keep = 0;
  expectError<Error>([&] { trainer.fit(fit); }, {"keep 0"});
  fit.keep = 1;
  fit.schedule = "cosin";
  expectError<Error>([&] { trainer.fit(fit); }, {"'cosin'", "did you mean 'cosine'"});
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2)
    return std::fprintf(stderr, "usage: trainer-interface mlp.onnx\n"), 2;
  modelPath = argv[1];
  return RUN_ALL_TESTS();
}
