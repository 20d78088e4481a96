#ifndef FREESTONE_TOOLS_FREESTONE_TRAINPLAN_H
#define FREESTONE_TOOLS_FREESTONE_TRAINPLAN_H

#include "freestone/freestone.h"
#include "train/step/StepDescription.h"
#include <functional>
#include <optional>

namespace freestone::tools {

/// Memory of a training before its first step, in bytes.
struct MemoryPlan {
  uint64_t parameters = 0, statistics = 0, optimizer = 0, accumulated = 0;
  uint64_t intermediates = 0; ///< activations and gradients, which take each other's place, and scratch
  uint64_t gradients = 0;     ///< of the intermediates: of all parameters, there together at the end of a step
  uint64_t accumulation = 0;  ///< intermediates of the batches before a step's last one
  uint64_t evaluation = 0;    ///< intermediates of evaluations
  uint64_t data = 0;          ///< batches that are prepared or in use
  uint64_t checkpoint = 0;    ///< the copy of the state that is written while the training goes on
  uint64_t code = 0;          ///< of all programs, which is copied from the file

  uint64_t total() const {
    return parameters + statistics + optimizer + accumulated + intermediates + accumulation + evaluation + data +
           checkpoint + code;
  }
};

struct MemoryQuestion {
  int64_t batch = 1;
  /// The size of an input's dimension behind the first, where it is symbolic; nothing where it is not known.
  std::function<std::optional<int64_t>(const std::string &input, size_t axis)> sizeOf;
  int threads = 0;
  bool accumulates = false, evaluates = false;
  int64_t batchesInMemory = 4;
};

/// What a training needs, from the compiled sizes and placement of its programs. Nothing where a size is not known,
/// which `unknown` then names.
std::optional<MemoryPlan> planMemory(const Artifact &artifact, const train::StepDescription &description,
                                     const MemoryQuestion &question, std::string &unknown);

/// Prints it, a category a line.
void printMemory(const MemoryPlan &plan);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_TRAINPLAN_H
