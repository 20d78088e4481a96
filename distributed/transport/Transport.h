#ifndef FREESTONE_DISTRIBUTED_TRANSPORT_TRANSPORT_H
#define FREESTONE_DISTRIBUTED_TRANSPORT_TRANSPORT_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace freestone::distributed {

/// Numbers a posted transfer of one rank, from 1 on.
using Ticket = int64_t;

/// Exit codes of processes whose job has ended: a fault that would come again, and one that may not, such as a rank
/// that is heard of no more.
inline constexpr int lastingFault = 1, passingFault = 75;

/// The network as one rank sees it: point-to-point messages, none of which overtakes another one between the same two
/// ranks under the same tag. All functions but `wake` and `abort` belong to one thread. Throws Error when the job has
/// ended or the network fails.
class Transport {
public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Posts a transfer; returns at once. The memory must stay until it has ended, and that of a send unchanged. Messages
  /// may wait for their receiver (rendezvous): a send ends only when its message is received.
  virtual void send(Ticket ticket, int peer, int tag, const void *data, size_t bytes) = 0;
  virtual void receive(Ticket ticket, int peer, int tag, void *data, size_t bytes) = 0;

  /// Waits until posted transfers have ended, `wake` is called, or the time is over; appends what has ended. `isUrgent`:
  /// the rank computes nothing until a transfer has ended, so that its CPU may be used for the wait.
  virtual void wait(std::chrono::milliseconds limit, bool isUrgent, std::vector<Ticket> &ended) = 0;
  virtual void wake() = 0;

  /// Gives up all transfers that have not ended; the memory of receives, and of what no receiver has begun to take, is
  /// not used any more.
  virtual void giveUp() noexcept = 0;

  /// Ends the job on all ranks: their functions throw Error with this reason, or their processes end with this code.
  virtual void abort(const std::string &reason, int exitCode) noexcept = 0;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_TRANSPORT_TRANSPORT_H
