#ifndef FREESTONE_DISTRIBUTED_PARTITION_STAGEVALUES_H
#define FREESTONE_DISTRIBUTED_PARTITION_STAGEVALUES_H

#include "distributed/profile/Profile.h"

namespace freestone::distributed {

/// The bytes of what stages of consecutive nodes, [begin, end), keep and exchange for one micro-batch. A value counts
/// once, however many nodes read it.
class StageValues {
public:
  /// O(nodes · (nodes + edges)).
  explicit StageValues(const Profile &profile);

  double parameters(int begin, int end) const { return parametersBefore[end] - parametersBefore[begin]; }
  /// What crosses a cut before this node.
  double crossing(int cut) const { return crossed[cut]; }
  /// What the gradients of a stage read.
  double kept(int begin, int end) const { return keptBefore[end] - keptBefore[begin]; }
  /// What a stage receives and sends, and the gradients of both.
  double exchanged(int begin, int end) const {
    return 2 * exchangedOnce[static_cast<size_t>(begin) * (count + 1) + end];
  }

private:
  size_t count;
  std::vector<double> parametersBefore = {0}, keptBefore = {0}, crossed;
  std::vector<double> exchangedOnce; ///< received and sent, [begin · (count + 1) + end]
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PARTITION_STAGEVALUES_H
