#ifndef FREESTONE_TRAIN_METRICS_H
#define FREESTONE_TRAIN_METRICS_H

#include <cstdint>
#include <optional>
#include <string>

namespace freestone::train {

/// What one training step tells.
struct StepMetrics {
  int64_t step = 0;  ///< from 1: the number of steps done
  int64_t epoch = 0; ///< from 1
  double loss = 0;   ///< mean over all counted elements
  double gradientNorm = 0;
  double learningRate = 0;
  double lossScale = 1;
  bool skipped = false;       ///< a gradient overflowed; nothing was updated
  std::string notFinite = {}; ///< the first parameter whose gradient did; empty where only the norm of all did
  int64_t samples = 0;        ///< of all batches of the step
  int64_t length = 1;         ///< tokens of each sample, of its last batch
  double samplesPerSecond = 0;
  double tokensPerSecond = 0; ///< 0 where samples have no tokens
};

/// What an evaluation tells.
struct EvaluationMetrics {
  int64_t step = 0; ///< after so many steps
  double loss = 0;
  std::optional<double> accuracy = {};   ///< fraction of right classes
  std::optional<double> perplexity = {}; ///< exp(loss) of a language model
  double counted = 0;                    ///< elements that the loss is the mean of
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_METRICS_H
