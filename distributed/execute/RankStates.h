#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKSTATES_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKSTATES_H

#include "distributed/execute/StageProgram.h"

namespace freestone::distributed {

/// The states of one rank's stages, without copies of what another stage updates. Not thread-safe.
class RankStates {
public:
  /// Both must outlive it.
  RankStates(std::vector<StageProgram *> stages, const PipelineDescription &pipeline)
      : stages(std::move(stages)), pipeline(pipeline) {}

  /// In groups, as views in place.
  std::vector<train::TensorGroup> groups() const;
  /// Restores copies, too. `Part` of each group that a checkpoint has. Throws train::Error.
  void restore(const train::Checkpoint &checkpoint);
  /// Returns whether there is a loss scale.
  bool setLossScale(double scale);
  /// Steps done, without skipped ones; nothing if no stage of this rank counts them.
  std::optional<int64_t> stepsDone() const;

private:
  bool isHome(const std::string &state, int stage) const;

  std::vector<StageProgram *> stages;
  const PipelineDescription &pipeline;
};

/// The groups of several ranks as one: every tensor once, in the order of names.
std::vector<train::TensorGroup> mergeGroups(std::vector<std::vector<train::TensorGroup>> ranks);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKSTATES_H
