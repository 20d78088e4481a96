#ifndef FREESTONE_DISTRIBUTED_PARTITION_STAGEVALUES_H
#define FREESTONE_DISTRIBUTED_PARTITION_STAGEVALUES_H

#include "distributed/profile/Profile.h"
#include "distributed/schedule/StageNeeds.h"

namespace freestone::distributed {

/// The bytes of a stage: of its parameters, and of values of one micro-batch.
struct StageBytes {
  double parameters = 0;
  double kept = 0;      ///< that its gradients read
  double exchanged = 0; ///< that it receives and sends

  /// What one of its ranks holds: states, further versions of weights and sums of gradients; in every slot, what is
  /// exchanged with its gradients, and what gradients read, unless that is recomputed for fewer micro-batches at a
  /// time.
  double held(const StageNeeds &needs, double statesPerParameter) const {
    double states = statesPerParameter + (needs.versions - 1) + (needs.sums - 1);
    return states * parameters + (needs.recomputed > 0 ? needs.recomputed : needs.slots()) * kept +
           needs.slots() * 2 * exchanged;
  }
};

/// The bytes of stages of consecutive nodes, [begin, end). A value counts once, however many nodes read it.
class StageValues {
public:
  /// O(nodes · (nodes + edges)).
  explicit StageValues(const Profile &profile);

  /// What crosses a cut before this node.
  double crossing(int cut) const { return crossed[cut]; }
  StageBytes of(int begin, int end) const {
    return {parametersBefore[end] - parametersBefore[begin], keptBefore[end] - keptBefore[begin],
            exchanged[static_cast<size_t>(begin) * (count + 1) + end]};
  }

private:
  size_t count;
  std::vector<double> parametersBefore = {0}, keptBefore = {0}, crossed;
  std::vector<double> exchanged; ///< received and sent, [begin · (count + 1) + end]
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PARTITION_STAGEVALUES_H
