#ifndef FREESTONE_TRAIN_REPORT_METRICS_H
#define FREESTONE_TRAIN_REPORT_METRICS_H

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace freestone::train {

/// The ranks of a pipeline in one step.
struct RanksMetrics {
  double bubble = 0;           ///< the part of ranks × time in which ranks did not compute
  std::vector<uint64_t> bytes; ///< that each rank holds
};

/// Results of one training step.
struct StepMetrics {
  int64_t step = 0;  ///< from 1: the number of steps done
  int64_t epoch = 0; ///< from 1
  double loss = 0;   ///< mean over all counted elements
  double gradientNorm = 0;
  double learningRate = 0;
  double lossScale = 1;
  bool skipped = false; ///< a gradient was not finite; nothing was updated
  /// the first parameter with such a gradient; empty if only the norm of all was not finite
  std::string notFinite = {};
  int64_t samples = 0; ///< of all batches of the step
  int64_t length = 1;  ///< tokens of each sample in its last batch
  /// When its update ended, if it is told later: several steps may be told at once.
  std::optional<std::chrono::steady_clock::time_point> ended = {};
  double samplesPerSecond = 0;
  double tokensPerSecond = 0;             ///< 0 without tokens
  std::optional<RanksMetrics> ranks = {}; ///< of a pipeline over several ranks
};

/// Results of an evaluation.
struct EvaluationMetrics {
  int64_t step = 0; ///< number of steps done before
  double loss = 0;
  std::optional<double> accuracy = {};   ///< fraction of correct classes
  std::optional<double> perplexity = {}; ///< exp(loss) of a language model
  double counted = 0;                    ///< number of elements that the loss averages
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_REPORT_METRICS_H
