#include "train/report/MetricsLog.h"
#include "test/train/Files.h"
#include "train/Error.h"
#include <algorithm>
#include <cmath>
#include <thread>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;

static StepMetrics metricsOf(int64_t step) {
  return {.step = step,
          .epoch = 1,
          .loss = 1.0 / double(step),
          .gradientNorm = 2,
          .learningRate = 0.001,
          .lossScale = 65536,
          .skipped = step == 2,
          .samplesPerSecond = 100.5};
}

TEST(MetricsLog, writesOneObjectAStep) {
  Folder folder;
  MetricsLog log(folder / "run", 0);
  for (int64_t step = 1; step <= 2; ++step)
    log.append(metricsOf(step));
  StepMetrics broken = metricsOf(3);
  broken.loss = NAN;
  broken.gradientNorm = INFINITY;
  log.append(broken);
  log.append(EvaluationMetrics{.step = 3, .loss = 0.5, .accuracy = 0.75});
  log.flush();
  EXPECT_EQ(
      readText(folder / "run/metrics.jsonl"),
      R"({"step":1,"loss":1.0,"grad_norm":2.0,"lr":0.001,"scale":65536.0,"skipped":false,"samples_per_s":100.5})"
      "\n"
      R"({"step":2,"loss":0.5,"grad_norm":2.0,"lr":0.001,"scale":65536.0,"skipped":true,"samples_per_s":100.5})"
      "\n"
      R"({"step":3,"loss":null,"grad_norm":null,"lr":0.001,"scale":65536.0,"skipped":false,"samples_per_s":100.5})"
      "\n");
  EXPECT_EQ(readText(folder / "run/evaluations.jsonl"), "{\"step\":3,\"loss\":0.5,\"accuracy\":0.75}\n");
  EXPECT_TRUE(readText(folder / "run/loss.svg").ends_with("</svg>\n"));
}

TEST(MetricsLog, linesAreThereBeforeFlush) {
  Folder folder;
  MetricsLog log(folder.path(), 0);
  auto lines = [&](const char *name) { return std::ranges::count(readText(folder / name), '\n'); };
  log.append(metricsOf(1));
  EXPECT_EQ(lines("metrics.jsonl"), 1);
  log.append(metricsOf(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  log.append(metricsOf(3));
  EXPECT_EQ(lines("metrics.jsonl"), 3);
  log.append(metricsOf(4));
  log.append(EvaluationMetrics{.step = 4, .loss = 0.5});
  EXPECT_EQ(lines("metrics.jsonl"), 4);
  EXPECT_EQ(lines("evaluations.jsonl"), 1);
}

TEST(MetricsLog, writesSeldom) {
  Folder folder;
  MetricsLog log(folder.path(), 0);
  auto begin = std::chrono::steady_clock::now();
  size_t before = 0;
  int writes = 0;
  for (int64_t step = 1; step <= 200; ++step) {
    log.append(metricsOf(step));
    size_t bytes = std::filesystem::file_size(folder / "metrics.jsonl");
    writes += bytes != before;
    before = bytes;
  }
  auto intervals = (std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(100);
  // And writes when the stream's buffer is full.
  EXPECT_LE(writes, 1 + intervals + static_cast<int64_t>(before) / 4096);
}

TEST(MetricsLog, goesOnAfterTheStepThatWasSaved) {
  Folder folder, whole;
  {
    MetricsLog log(folder.path(), 0);
    for (int64_t step = 1; step <= 10; ++step)
      log.append(metricsOf(step));
    log.append(EvaluationMetrics{.step = 5, .loss = 0.5});
    log.append(EvaluationMetrics{.step = 10, .loss = 0.4});
  }
  std::ofstream(folder / "metrics.jsonl", std::ios::app) << "{\"step\":11,\"lo"; // torn
  MetricsLog resumed(folder.path(), 7), straight(whole.path(), 0);
  for (int64_t step = 1; step <= 12; ++step) {
    if (step > 7)
      resumed.append(metricsOf(step));
    straight.append(metricsOf(step));
  }
  straight.append(EvaluationMetrics{.step = 5, .loss = 0.5});
  resumed.flush();
  straight.flush();
  for (const char *name : {"metrics.jsonl", "evaluations.jsonl", "loss.svg"})
    EXPECT_EQ(readText(folder / name), readText(whole / name)) << name;
}

TEST(MetricsLog, beginsAnew) {
  Folder folder;
  {
    MetricsLog log(folder.path(), 0);
    log.append(metricsOf(1));
  }
  MetricsLog log(folder.path(), 0);
  EXPECT_EQ(readText(folder / "metrics.jsonl"), "");
  expectError<Error>([&] { MetricsLog(folder / "metrics.jsonl", 0); }, {"can't make the folder"});
}
