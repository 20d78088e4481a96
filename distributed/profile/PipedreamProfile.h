#ifndef FREESTONE_DISTRIBUTED_PROFILE_PIPEDREAMPROFILE_H
#define FREESTONE_DISTRIBUTED_PROFILE_PIPEDREAMPROFILE_H

#include "distributed/profile/Profile.h"
#include <istream>

namespace freestone::distributed {

/// Reads a profile in the text form of PipeDream's profiler: a line for each node, times in ms,
///
///   node2 -- Conv2d(…) -- forward_compute_time=1.5, backward_compute_time=3.1, activation_size=[8.0; 4.0],
///   parameter_size=9.0
///
/// and behind a tab, each edge: `node2 -- node3`. Inputs, which cost nothing and stay with the first stage, and
/// `__getitem__`s that nothing reads are left out, as PipeDream's optimizer does. Nodes are sorted so that edges go
/// from lower to higher numbers, and stay in the order of the file otherwise; so do edges. Throws Error, which names
/// the line.
Profile readPipedreamProfile(std::istream &text);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PROFILE_PIPEDREAMPROFILE_H
