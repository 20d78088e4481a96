#ifndef FREESTONE_DISTRIBUTED_EXECUTE_STAGETIMES_H
#define FREESTONE_DISTRIBUTED_EXECUTE_STAGETIMES_H

#include "distributed/execute/PipelineDescription.h"
#include "distributed/profile/MeasuredProfile.h"
#include "train/step/StepDescription.h"
#include "train/step/Trainer.h"

namespace freestone::distributed {

/// Runs the passes of a stage on zeros, and takes the medians of their times. `artifact` is of this stage, compiled
/// with a split backward pass; `sizes` are values of the pipeline's symbols. Throws freestone::Error.
BlockTimes measureStage(const Artifact &artifact, int stage, const PipelineDescription &pipeline,
                        const train::StepDescription &about, const train::Execution &execution,
                        const std::vector<int64_t> &sizes);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_STAGETIMES_H
