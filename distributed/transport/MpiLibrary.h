#ifndef FREESTONE_DISTRIBUTED_TRANSPORT_MPILIBRARY_H
#define FREESTONE_DISTRIBUTED_TRANSPORT_MPILIBRARY_H

#include "distributed/transport/Transport.h"
#include <memory>

namespace freestone::distributed {

/// The ranks that `mpirun` has started with this process, and those on its machine.
struct MpiJob {
  int ranks = 1, ranksHere = 1;
};

/// What the environment tells, without opening MPI; one rank unless a launcher has started this process.
MpiJob findMpiJob();

/// Whether this Freestone has a part for MPI.
bool hasMpi();

/// Opens the only part that knows MPI, the library for the implementation whose launcher has started this process, and
/// connects to the other ranks. Throws Error, also where Freestone was built without MPI. At most one at a time.
std::unique_ptr<Transport> connectByMpi();

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_TRANSPORT_MPILIBRARY_H
