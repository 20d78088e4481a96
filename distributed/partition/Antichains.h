#ifndef FREESTONE_DISTRIBUTED_PARTITION_ANTICHAINS_H
#define FREESTONE_DISTRIBUTED_PARTITION_ANTICHAINS_H

#include "distributed/profile/Profile.h"

namespace freestone::distributed {

/// A place where a model can be cut: everything up to these nodes stands before it.
struct Frontier {
  std::vector<int> nodes;  ///< those without a reader before the cut, and those with readers behind it
  std::vector<int> before; ///< all nodes before the cut, ascending
  std::vector<int> inner;  ///< the frontiers that can be the cut before, ascending
  double compute = 0;      ///< seconds of all nodes before the cut
  double activations = 0, parameters = 0, kept = 0;
  double crossing = 0; ///< bytes of the activations of `nodes`
};

/// All frontiers of a model from its first source on, in a topological order: the states of PipeDream's optimizer,
/// whose cuts between branches are antichains of the graph (Narayanan et al., SOSP 2019). Their number is that of the
/// nodes in a chain, and grows with the product of the branches' lengths. Throws Error where there are more than
/// `most`.
std::vector<Frontier> findFrontiers(const Profile &profile, size_t most = 20000);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PARTITION_ANTICHAINS_H
