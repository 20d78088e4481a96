#ifndef FREESTONE_RUNTIME_WORKERS_WAITPOINT_H
#define FREESTONE_RUNTIME_WORKERS_WAITPOINT_H

#include "runtime/platform/Futex.h"
#include "runtime/workers/SpinPolicy.h"
#include <atomic>
#include <chrono>
#include <cstdint>

namespace freestone::runtime {

/// A place where threads wait for atomics of one owner to change: they spin a little, then sleep on a futex. The owner
/// pays for a wake only if there are sleepers.
///
/// No wake is lost: the owner stores, then looks for sleepers; a sleeper registers, then checks the condition. All four
/// accesses are sequentially consistent, so one of the two sees the other.
class WaitPoint {
public:
  /// Called by the owner after a sequentially consistent store to the atomics.
  void wake() {
    if (!hasSleepers())
      return;
    ticket.fetch_add(1, std::memory_order_seq_cst);
    platform::futexWakeAll(ticket);
  }

  /// Whether a thread sleeps here, or was woken and has not run yet.
  bool hasSleepers() const { return sleepers.load(std::memory_order_seq_cst) > 0; }

  /// Spins, then sleeps, until `isReady` holds.
  template <typename Ready> void await(SpinPolicy &policy, Ready isReady) {
    if (policy.spin(isReady))
      return;
    while (!isReady())
      sleep({}, isReady);
  }

  /// Sleeps until woken, at most `timeout` (zero: no limit); returns at once if `isReady` holds. May return early.
  template <typename Ready> void sleep(std::chrono::milliseconds timeout, Ready isReady) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t seen = ticket.load(std::memory_order_seq_cst);
    if (!isReady())
      platform::futexWait(ticket, seen, timeout);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }

private:
  std::atomic<uint32_t> ticket = 0;
  std::atomic<uint32_t> sleepers = 0;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_WAITPOINT_H
