#ifndef FREESTONE_TRAIN_REPORT_PROGRESS_H
#define FREESTONE_TRAIN_REPORT_PROGRESS_H

#include "train/report/Metrics.h"
#include <chrono>
#include <cstdio>
#include <string>

namespace freestone::train {

struct ProgressOptions {
  int64_t steps = 0;       ///< of the whole training
  int64_t epochs = 0;      ///< of the whole training; 0: not shown
  bool terminal = false;   ///< a bar that is redrawn; else plain lines
  bool showScale = false;  ///< shows the loss scale
  double lineSeconds = 10; ///< between plain lines
};

/// The progress display of a training: epoch, step, loss, samples and tokens a second, learning rate, bubble and
/// memory of a pipeline's ranks, loss scale, time left. A bar on a terminal, redrawn at most ten times a second; else
/// lines.
class Progress {
public:
  using Clock = std::chrono::steady_clock;

  /// Writes to `stream`, which the caller owns.
  Progress(std::FILE *stream, const ProgressOptions &options);

  /// Whether `stream` is a terminal that supports a bar.
  static bool isTerminal(std::FILE *stream);

  void step(const StepMetrics &metrics, Clock::time_point now = Clock::now());
  void evaluation(const EvaluationMetrics &metrics);
  /// Prints a separate line, such as the folder of a checkpoint, above the bar.
  void note(const std::string &line);
  /// Ends the bar's line with the last step.
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

#endif // FREESTONE_TRAIN_REPORT_PROGRESS_H
