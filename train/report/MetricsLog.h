#ifndef FREESTONE_TRAIN_REPORT_METRICSLOG_H
#define FREESTONE_TRAIN_REPORT_METRICSLOG_H

#include "train/report/LossCurve.h"
#include "train/report/Metrics.h"
#include <chrono>
#include <cstdio>
#include <string>

namespace freestone::train {

/// The log files of a training: `metrics.jsonl`, one object a step with step, loss, grad_norm, lr, scale, skipped,
/// samples_per_s, with tokens also tokens_per_s, and over several ranks bubble and rank_bytes; `evaluations.jsonl`, one
/// object an evaluation with step, loss, accuracy and perplexity; and `loss.svg`. Numbers that are not finite are null.
/// The first step and evaluations are visible to readers at once, other steps within 100 ms. One thread may call it at
/// a time. Throws Error when a file can't be written.
class MetricsLog {
public:
  /// Opens the files in `folder`, keeping the lines of the first `step` steps of a resumed training. With 0 they begin
  /// empty.
  MetricsLog(const std::string &folder, int64_t step);
  ~MetricsLog();
  MetricsLog(const MetricsLog &) = delete;

  void append(const StepMetrics &metrics);
  void append(const EvaluationMetrics &metrics);
  /// Writes everything to the operating system, and loss.svg.
  void flush();

  const LossCurve &lossCurve() const { return curve; }

private:
  void flushLines();

  std::string folder;
  std::FILE *steps = nullptr;
  std::FILE *evaluations = nullptr;
  std::string line;                                   ///< kept, so that appending allocates nothing
  std::chrono::steady_clock::time_point flushed = {}; ///< in the past, so that the first step's line is flushed at once
  LossCurve curve;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_REPORT_METRICSLOG_H
