#ifndef FREESTONE_DISTRIBUTED_EXECUTE_SHAREDSTATES_H
#define FREESTONE_DISTRIBUTED_EXECUTE_SHAREDSTATES_H

#include "distributed/execute/RankSchedules.h"
#include "distributed/execute/StageRun.h"

namespace freestone::distributed {

/// Parameters that several stages read, such as tied embeddings: their home updates them, and gives them to the others.
/// Of a delayed schedule, all stages read the version that the home has used for the same micro-batch, so that a
/// gradient is of one weight. Not thread-safe.
class SharedStates {
public:
  /// `stages` are those of rank `own`; all must outlive it.
  SharedStates(std::map<int, std::unique_ptr<StageRun>> &stages, const PipelineDescription &pipeline,
               const RankSchedules &schedules, int own, Courier *courier);

  /// Without delay: gives the parameters of a step to all stages, when all of this rank's have been updated.
  void share();

  // Of a delayed schedule, whose micro-batches are counted from the last flush, as versions are from `first`.

  void begin(int64_t first) { firstVersion = first; }
  /// Before a pass: receives what it reads, if that has not come before.
  void select(int stage, int microBatch);
  /// Before an update of this stage: its oldest version, which the new one replaces, has been received by all.
  void release(int stage);
  /// After an update.
  void send(int stage);
  /// All stages get the newest version.
  void flush();

  size_t bytes() const;

private:
  /// A state that a stage of this rank reads, and another stage updates: in as many versions as are in use.
  struct Copy {
    int stage = 0, state = 0; ///< `state`: of PipelineDescription::shared
    size_t index = 0, bytes = 0;
    std::vector<std::unique_ptr<uint8_t, void (*)(void *)>> memory; ///< besides the state's own
    int64_t newest = 0;
  };

  const SharedState &stateOf(const Copy &copy) const { return pipeline.shared[copy.state]; }
  void place(const Copy &copy, int64_t version) const;
  void receive(Copy &copy);
  Message messageOf(int state, int reader, int64_t version, int at) const;
  int leaderOf(int stage) const { return schedules.places()[stage].front(); }
  int64_t newestOf(int stage) const { return stages.at(stage)->versions.newest(); }

  std::map<int, std::unique_ptr<StageRun>> &stages;
  const PipelineDescription &pipeline;
  const RankSchedules &schedules;
  int own;
  Courier *courier;
  std::vector<Copy> copies;
  std::map<std::pair<int, int64_t>, std::vector<Ticket>> sent; ///< by home and version
  int64_t firstVersion = 0;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_SHAREDSTATES_H
