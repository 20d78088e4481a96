#ifndef FREESTONE_DISTRIBUTED_SCHEDULE_STAGENEEDS_H
#define FREESTONE_DISTRIBUTED_SCHEDULE_STAGENEEDS_H

#include "distributed/schedule/Schedule.h"

namespace freestone::distributed {

/// How much one rank of a stage keeps at a time.
struct StageNeeds {
  /// The most micro-batches under way, from the forward pass to the end of the backward pass.
  int kept = 0;
  /// The most micro-batches between their recomputation and the end of their gradients.
  int recomputed = 0;
  int versions = 1; ///< of the weights
  int sums = 1;     ///< of gradients, for different steps

  /// Slots for micro-batches: one more than are kept, for what is received ahead.
  int slots() const { return kept + 1; }
  /// Slots for what the gradients read: of a stage that recomputes it, for those micro-batches alone.
  int intermediates() const { return recomputed > 0 ? recomputed : slots(); }
  bool operator==(const StageNeeds &) const = default;
};

/// Of every stage: the most of all its replicas.
std::vector<StageNeeds> countNeeds(const Schedule &schedule);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SCHEDULE_STAGENEEDS_H
