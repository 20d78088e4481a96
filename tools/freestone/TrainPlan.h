#ifndef FREESTONE_TOOLS_FREESTONE_TRAINPLAN_H
#define FREESTONE_TOOLS_FREESTONE_TRAINPLAN_H

#include "freestone/freestone.h"
#include "tools/freestone/TrainOptions.h"
#include "train/data/ArrayFiles.h"
#include "train/step/StepDescription.h"
#include <functional>
#include <optional>

namespace freestone::tools {

/// Planned memory of a training, in bytes.
struct MemoryPlan {
  uint64_t parameters = 0, statistics = 0, optimizer = 0, accumulated = 0;
  uint64_t intermediates = 0; ///< activations and gradients, which share memory over time, and scratch
  /// part of the intermediates: the gradients of all parameters, live together at the end of a step
  uint64_t gradients = 0;
  uint64_t accumulation = 0; ///< intermediates of the batches before a step's last one
  uint64_t evaluation = 0;   ///< intermediates of evaluations
  uint64_t data = 0;         ///< batches prepared or in use
  uint64_t checkpoint = 0;   ///< copy of the state that is written while the training continues
  uint64_t code = 0;         ///< copies of the code of all programs

  uint64_t total() const {
    return parameters + statistics + optimizer + accumulated + intermediates + accumulation + evaluation + data +
           checkpoint + code;
  }
};

struct MemoryQuestion {
  int64_t batch = 1;
  /// The size of a symbolic dimension of an input (`axis` > 0); nothing if unknown.
  std::function<std::optional<int64_t>(const std::string &input, size_t axis)> sizeOf;
  int threads = 0;
  bool accumulates = false, evaluates = false;
  /// Samples of an evaluation's last batch, which may take more memory than a larger one; 0 if it is none of its own,
  /// or unknown.
  int64_t evaluatedLast = 0;
  int64_t batchesInMemory = 4;
};

/// The memory of a training, from the compiled sizes and offsets of its programs. Nothing if a size is unknown, which
/// `unknown` then names.
std::optional<MemoryPlan> planMemory(const Artifact &artifact, const train::StepDescription &description,
                                     const MemoryQuestion &question, std::string &unknown);

/// The sizes of a training: of its data and those of its evaluations, if they are at hand, or of its windows.
MemoryQuestion memoryQuestion(const TrainOptions &options, const train::ArrayFiles *data,
                              const train::ArrayFiles *evaluation = nullptr);

/// Prints one parameter a line, then what a step computes in. `whole` is the step; null for the stages of a pipeline,
/// each of which keeps states of its own.
void printParameters(const train::StepDescription &description, const Artifact *whole);

/// Prints one category a line.
void printMemory(const MemoryPlan &plan);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_TRAINPLAN_H
