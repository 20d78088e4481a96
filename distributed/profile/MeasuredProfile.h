#ifndef FREESTONE_DISTRIBUTED_PROFILE_MEASUREDPROFILE_H
#define FREESTONE_DISTRIBUTED_PROFILE_MEASUREDPROFILE_H

#include "distributed/profile/Profile.h"

namespace freestone::distributed {

/// Measured seconds of some nodes together, for one micro-batch.
struct BlockTimes {
  double forward = 0, inputGradient = 0, weightGradient = 0;

  double total() const { return forward + inputGradient + weightGradient; }
};

/// A block of nodes, predicted and measured.
struct BlockComparison {
  std::string firstNode, lastNode;
  double predicted = 0, measured = 0; ///< seconds
};

/// A profile with the measured times of blocks, which their nodes share as it was predicted. `blockOf`: of every node.
Profile measuredProfile(const Profile &predicted, const std::vector<int> &blockOf,
                        const std::vector<BlockTimes> &blocks);

std::vector<BlockComparison> compareBlocks(const Profile &predicted, const std::vector<int> &blockOf,
                                           const std::vector<BlockTimes> &blocks);

/// How far measured times are from predicted ones.
struct ProfileError {
  double ratio = 1; ///< geometric mean of measured / predicted
  double worst = 1; ///< of measured / predicted or predicted / measured
};
ProfileError errorOf(const std::vector<BlockComparison> &blocks);

/// A line for each block, and how far both are apart.
std::string printComparison(const std::vector<BlockComparison> &blocks);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PROFILE_MEASUREDPROFILE_H
