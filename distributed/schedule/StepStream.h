#ifndef FREESTONE_DISTRIBUTED_SCHEDULE_STEPSTREAM_H
#define FREESTONE_DISTRIBUTED_SCHEDULE_STEPSTREAM_H

#include "distributed/schedule/Communication.h"
#include "distributed/schedule/Generate.h"
#include <map>

namespace freestone::distributed {

/// A delayed schedule of as many steps as come: what a rank does when the data of a step are there, and when no more
/// come. Steps are numbered from the last flush, and so are micro-batches and versions of weights. After some steps the
/// lists repeat themselves with higher numbers. Not thread-safe.
class StepStream {
public:
  /// `options.steps` does not matter. Throws Error as `generate` does.
  StepStream(ScheduleOptions options, std::vector<StageEdge> edges);

  /// All that does not wait for data of later steps, on any rank. Receives of the step's activations come first, since
  /// their sizes are not known before.
  std::vector<Action> step(int rank, int step) const;
  /// What is left of so many steps.
  std::vector<Action> flush(int rank, int steps) const;
  /// The version of its weights that a stage uses for a micro-batch.
  int versionOf(int stage, int microBatch) const;
  /// All of so many steps, as one schedule.
  Schedule whole(int steps) const;

  /// So many steps show all that the lists have: the lists of later ones are theirs with higher numbers.
  int period() const { return 2 * static_cast<int>(options.replicas.size()) + 2; }

  /// The list of a rank, by steps.
  using Parts = std::vector<std::vector<Action>>;

private:
  Schedule scheduleOf(int steps) const;
  std::vector<Action> shifted(std::vector<Action> actions, int steps) const;

  ScheduleOptions options;
  std::vector<StageEdge> edges;
  std::vector<Parts> parts;                                         ///< by ranks
  std::vector<std::vector<int>> versions;                           ///< by stage and micro-batch
  mutable std::map<std::pair<int, int>, std::vector<Action>> rests; ///< of flushes, by rank and steps
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SCHEDULE_STEPSTREAM_H
