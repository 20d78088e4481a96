#ifndef FREESTONE_DISTRIBUTED_EXECUTE_REPLICASUMS_H
#define FREESTONE_DISTRIBUTED_EXECUTE_REPLICASUMS_H

#include "distributed/execute/StageRun.h"
#include "distributed/schedule/Schedule.h"

namespace freestone::distributed {

/// Adds up the gradients of a stage's replicas, in the order of replicas whatever the times, so that all have the same
/// bits: each replica adds up its share of the tensors, and gives the sums to the others. A tensor crosses as often as
/// in a ring. Not thread-safe.
class ReplicaSums {
public:
  /// `stage` is one of rank `own`, which is one of `ranks`; all must outlive it. `courier` may be null for plans.
  /// Throws Error where the stage has statistics, which follow every micro-batch, or sums of other element types than
  /// floats and 64-bit integers.
  ReplicaSums(StageRun &stage, const std::vector<int> &ranks, int own, const PipelineDescription &pipeline,
              Courier *courier);

  /// Of a step, by `number`: the gradients of this replica become those of all.
  void addUp(int64_t number);
  size_t bytes() const { return memory.size(); }

private:
  struct Sum {
    size_t state = 0, bytes = 0;
    freestone_dtype type = FREESTONE_F32;
    int owner = 0;     ///< the replica that adds it up
    size_t offset = 0; ///< of the other replicas' values in the memory, if the owner is this one
  };
  uint8_t *dataOf(const Sum &sum) const {
    return static_cast<uint8_t *>(stage.program.state().state().tensor(sum.state).data);
  }
  /// Where a replica's values of a sum of this one's share come.
  uint8_t *placeOf(const Sum &sum, int replica) const;
  void addReplicas(const Sum &sum);
  void exchange(int64_t step, bool isTotal);

  StageRun &stage;
  std::vector<int> ranks;
  int place = 0; ///< of this rank among the replicas
  const PipelineDescription &pipeline;
  Courier *courier;
  std::vector<Sum> sums;
  mutable std::vector<uint8_t> memory; ///< the other replicas' values of this replica's share
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_REPLICASUMS_H
