// The times of a training step's operations, measured on this machine.
#ifndef FREESTONE_TOOLS_FREESTONE_PROFILEMEASUREMENT_H
#define FREESTONE_TOOLS_FREESTONE_PROFILEMEASUREMENT_H

#include "distributed/profile/MeasuredProfile.h"
#include "tools/freestone/PipelineTraining.h"
#include "tools/freestone/TrainPlan.h"

namespace freestone::tools {

struct Measurement {
  distributed::Profile profile;
  std::vector<distributed::BlockComparison> blocks; ///< empty: it was kept from an earlier measurement
};

/// Compiles blocks of operations as stages, and runs each of them on zeros, by as many workers as a rank has.
/// `predicted` is for the same micro-batch. Throws as Compiler does, and Failure where a size is unknown.
Measurement measureProfile(Compiler &compiler, const PipelineModel &model, const distributed::Profile &predicted,
                           int64_t microBatches, const MemoryQuestion &question, int threads);

/// As `measureProfile`; what was measured for the same step and sizes is kept in a file, which a training that goes on
/// takes again.
Measurement measureOnce(const std::string &path, Compiler &compiler, const PipelineModel &model,
                        const distributed::Profile &predicted, int64_t microBatches, const MemoryQuestion &question,
                        int threads);

/// The sizes of the pipeline's symbols for so many samples. Throws Failure where one is unknown.
std::vector<int64_t> findSizes(const distributed::PipelineDescription &pipeline, int64_t samples,
                               const MemoryQuestion &question);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_PROFILEMEASUREMENT_H
