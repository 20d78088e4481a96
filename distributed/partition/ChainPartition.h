#ifndef FREESTONE_DISTRIBUTED_PARTITION_CHAINPARTITION_H
#define FREESTONE_DISTRIBUTED_PARTITION_CHAINPARTITION_H

#include "distributed/profile/Profile.h"
#include <limits>

namespace freestone::distributed {

/// Which of the stages whose slowest one is equally fast are taken.
enum class ChainTies {
  FewestBytes, ///< between stages
  MostEven     ///< the least sum of squares of their times
};

struct ChainOptions {
  int stages = 1;
  double bytesPerSecond = 0; ///< of the links
  /// Bytes of each stage for its states, and for the values of micro-batches under way.
  double memory = std::numeric_limits<double>::infinity();
  double statesPerParameter = 4; ///< bytes kept for a byte of parameters
  ChainTies ties = ChainTies::FewestBytes;
  std::vector<int> slots; ///< of each stage: micro-batches for which it has memory; empty: memory is not limited
  std::vector<int> kept;  ///< of these, how many it keeps all for, not only what it exchanges; empty: all
};

/// The stage of every node: consecutive nodes, so that the slowest stage is as fast as can be. A stage's time is its
/// nodes', or, if it is longer, that of sending what crosses its ends both ways. No stage is without work. O(nodes² ·
/// stages). Throws Error if there are fewer nodes with work than stages, and NothingFits.
std::vector<int> partitionChain(const Profile &profile, const ChainOptions &options);

/// The least memory with which there are stages; `options.memory` does not matter.
double findLeastMemory(const Profile &profile, const ChainOptions &options);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PARTITION_CHAINPARTITION_H
