#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKSTATES_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKSTATES_H

#include "distributed/execute/StageProgram.h"
#include <set>

namespace freestone::distributed {

/// The states of one rank's stages, without copies of what another stage updates. Not thread-safe.
class RankStates {
public:
  /// Both must outlive it.
  RankStates(std::vector<StageProgram *> stages, const PipelineDescription &pipeline)
      : stages(std::move(stages)), pipeline(pipeline) {}

  /// In groups, as views in place; without those that another rank saves.
  std::vector<train::TensorGroup> groups(const std::set<std::string> &othersSave = {}) const;
  /// Of all groups.
  std::set<std::string> names() const;
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

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKSTATES_H
