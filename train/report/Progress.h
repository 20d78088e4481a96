#ifndef FREESTONE_TRAIN_PROGRESS_H
#define FREESTONE_TRAIN_PROGRESS_H

#include "train/report/Metrics.h"
#include <chrono>
#include <cstdio>
#include <string>

namespace freestone::train {

struct ProgressOptions {
  int64_t steps = 0;       ///< of the whole training
  int64_t epochs = 0;      ///< of the whole training; 0: not told
  bool terminal = false;   ///< a bar that is drawn again and again; else plain lines
  bool showScale = false;  ///< tell the loss scale
  double lineSeconds = 10; ///< between plain lines
};

/// What a person sees while a training runs: epoch, step, loss, samples and tokens a second, learning rate, loss scale,
/// time left. A bar on a terminal, drawn at most ten times a second; else lines.
class Progress {
public:
  using Clock = std::chrono::steady_clock;

  /// Writes to `stream`, which stays the caller's.
  Progress(std::FILE *stream, const ProgressOptions &options);

  /// True if `stream` is a terminal that understands a bar.
  static bool isTerminal(std::FILE *stream);

  void step(const StepMetrics &metrics, Clock::time_point now = Clock::now());
  void evaluation(const EvaluationMetrics &metrics);
  /// A line of its own, such as where a checkpoint was written; the bar is drawn again below.
  void note(const std::string &line);
  /// Ends the bar's line, telling the last step.
  void finish();

private:
  std::string describe(const StepMetrics &metrics, Clock::time_point now) const;
  void draw();
  void clearBar();

  std::FILE *stream;
  ProgressOptions options;
  StepMetrics first, last;
  Clock::time_point firstEnd, lastEnd, lastDrawn;
  bool any = false, drawn = false, barShown = false;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_PROGRESS_H
