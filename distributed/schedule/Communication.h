#ifndef FREESTONE_DISTRIBUTED_SCHEDULE_COMMUNICATION_H
#define FREESTONE_DISTRIBUTED_SCHEDULE_COMMUNICATION_H

#include "distributed/schedule/Schedule.h"

namespace freestone::distributed {

/// Values that go from a stage to a later one in forward passes, and values that go back in backward passes. Those that
/// skip stages go directly.
struct StageEdge {
  int from = 0;
  int to = 0;
  bool hasGradient = true;    ///< false: integers, for example
  bool hasActivations = true; ///< false: gradients of a weight that both stages read, for example

  bool carries(bool isForward) const { return isForward ? hasActivations : hasGradient; }
};

/// Each stage to the next one.
std::vector<StageEdge> chainOf(int stages);

/// Inserts the transfers between ranks. Both are posted, not awaited: a compute action waits for what it receives, and,
/// before it writes into a slot, for what was sent out of it.
///
/// A stage has one slot more for micro-batches than it keeps (see StageNeeds), which micro-batch j of its replica takes
/// in turns: a receive stands as early as its slot is free, so that it is posted while the rank computes. A send
/// follows what made it.
void addTransfers(Schedule &schedule, const std::vector<StageEdge> &edges);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SCHEDULE_COMMUNICATION_H
