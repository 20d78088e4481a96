#include "train/report/Progress.h"
#include "test/train/Files.h"

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;
using namespace std::chrono_literals;

namespace {

/// The output of a progress.
struct Written {
  explicit Written(const ProgressOptions &options) : stream(open_memstream(&text, &size)), progress(stream, options) {}
  ~Written() {
    fclose(stream);
    free(text);
  }
  std::string all() {
    fflush(stream);
    return {text, size};
  }

  char *text = nullptr;
  size_t size = 0;
  std::FILE *stream;
  Progress progress;
};

} // namespace

static StepMetrics shownMetrics(int64_t step) {
  return {.step = step,
          .epoch = 1 + step / 50,
          .loss = 0.43211,
          .gradientNorm = 1,
          .learningRate = 0.00098,
          .lossScale = 65536,
          .samplesPerSecond = 812.3,
          .tokensPerSecond = 51987};
}

TEST(Progress, plainLinesComeNowAndThen) {
  Written written({.steps = 100, .epochs = 2, .showScale = true});
  Progress::Clock::time_point begin = Progress::Clock::now();
  for (int64_t step = 1; step <= 100; ++step)
    written.progress.step(shownMetrics(step), begin + step * 1s);
  written.progress.evaluation({.step = 100, .loss = 0.5, .accuracy = 0.98611, .perplexity = 1.6487});
  written.progress.finish();
  std::string text = written.all();
  EXPECT_TRUE(text.starts_with("epoch 1/2 step 1/100  loss 0.4321  812 samples/s  52.0k tokens/s  lr 0.00098  scale "
                               "65536\nepoch 1/2 step 11/100  "))
      << text;
  EXPECT_NE(text.find("scale 65536  1:29 left\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("evaluation after step 100: loss 0.5000, accuracy 98.61 %, perplexity 1.65\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);
}

TEST(Progress, ranksShowBubbleAndMemory) {
  Written written({.steps = 100});
  StepMetrics metrics = shownMetrics(1);
  metrics.ranks = {{.bubble = 0.2345, .bytes = {3 << 20, 7 << 19}}};
  written.progress.step(metrics);
  metrics.step = 100;
  metrics.ranks->bytes.assign(12, 5 << 20);
  metrics.ranks->bytes[7] = 1 << 20;
  written.progress.step(metrics);
  std::string text = written.all();
  EXPECT_NE(text.find("lr 0.00098  bubble 23 %  memory 3.0 + 3.5 MiB\n"), std::string::npos) << text;
  EXPECT_NE(text.find("bubble 23 %  memory 1.0 to 5.0 MiB  "), std::string::npos) << text;
}

TEST(Progress, theBarIsDrawnInPlace) {
  Written written({.steps = 100, .terminal = true});
  Progress::Clock::time_point begin = Progress::Clock::now();
  for (int64_t step = 1; step <= 50; ++step)
    written.progress.step(shownMetrics(step), begin + step * 10ms);
  written.progress.note("checkpoint run/checkpoints/step-000050");
  written.progress.finish();
  std::string text = written.all();
  EXPECT_NE(text.find("\repoch 1 [========            ] step 41/100  loss 0.4321"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\x1b[Kcheckpoint run/checkpoints/step-000050\n\repoch 2 [==========          ] step 50/100"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("\x1b[K\n"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\r'), 10);
}

TEST(Progress, theLastStepIsAlwaysTold) {
  Written written({});
  Progress::Clock::time_point begin = Progress::Clock::now();
  for (int64_t step = 1; step <= 7; ++step)
    written.progress.step(shownMetrics(step), begin);
  written.progress.finish();
  EXPECT_NE(written.all().find("epoch 1 step 7  loss"), std::string::npos);
}
