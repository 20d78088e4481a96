#ifndef FREESTONE_DISTRIBUTED_PARTITION_CHAINPARTITION_H
#define FREESTONE_DISTRIBUTED_PARTITION_CHAINPARTITION_H

#include "distributed/profile/Profile.h"

namespace freestone::distributed {

/// The stage of every node: consecutive nodes, so that the slowest stage is as fast as can be; among equals, the least
/// bytes between stages. A stage's time is its nodes', or, if it is longer, that of sending what crosses its ends both
/// ways over links of so many bytes a second. No stage is without work. O(nodes² · stages). Throws Error if there are
/// fewer nodes with work than stages.
std::vector<int> partitionChain(const Profile &profile, int stages, double bytesPerSecond);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PARTITION_CHAINPARTITION_H
