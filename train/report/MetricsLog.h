#ifndef FREESTONE_TRAIN_METRICSLOG_H
#define FREESTONE_TRAIN_METRICSLOG_H

#include "train/report/LossCurve.h"
#include "train/report/Metrics.h"
#include <chrono>
#include <cstdio>
#include <string>

namespace freestone::train {

/// The files in which a training tells what it did: `metrics.jsonl`, one object a step with step, loss, grad_norm, lr,
/// scale, skipped and samples_per_s; `evaluations.jsonl`, one an evaluation with step, loss, accuracy and perplexity;
/// and `loss.svg`. What is not finite is null. Who follows the files sees the first step at once, others at most 100 ms
/// after a step that is told later, evaluations at once. One thread may call it at a time. Throws Error when a file
/// can't be written.
class MetricsLog {
public:
  /// Opens the files in `folder`, keeping of what is there the lines of the first `step` steps: those of a training
  /// that goes on from there. 0 begins anew.
  MetricsLog(const std::string &folder, int64_t step);
  ~MetricsLog();
  MetricsLog(const MetricsLog &) = delete;

  void append(const StepMetrics &metrics);
  void append(const EvaluationMetrics &metrics);
  /// Hands everything to the operating system and writes loss.svg.
  void flush();

  const LossCurve &lossCurve() const { return curve; }

private:
  void flushLines();

  std::string folder;
  std::FILE *steps = nullptr;
  std::FILE *evaluations = nullptr;
  std::string line;                                   ///< kept so that nothing is allocated for the next one
  std::chrono::steady_clock::time_point flushed = {}; ///< long ago, so that the first step's line is seen at once
  LossCurve curve;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_METRICSLOG_H
