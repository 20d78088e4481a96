#ifndef FREESTONE_DISTRIBUTED_TRANSPORT_LOCALTRANSPORT_H
#define FREESTONE_DISTRIBUTED_TRANSPORT_LOCALTRANSPORT_H

#include "distributed/transport/Transport.h"
#include <functional>
#include <memory>

namespace freestone::distributed {

/// Disturbs a network, for tests; both functions may be empty, and are called from the ranks' threads.
struct Disturbance {
  /// How long a message is under way, besides copying it.
  std::function<std::chrono::microseconds(int from, int to, size_t bytes)> delay;
  /// Changes a message.
  std::function<void(int from, int to, int tag, void *data, size_t bytes)> corrupt;
};

/// Ranks that are threads of one process: the transports of all of them, which share memory. Messages are copied from
/// the sender's memory into the receiver's when both ends are posted.
std::vector<std::unique_ptr<Transport>> connectLocally(int ranks, Disturbance disturbance = {});

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_TRANSPORT_LOCALTRANSPORT_H
