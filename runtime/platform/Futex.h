#ifndef FREESTONE_RUNTIME_PLATFORM_FUTEX_H
#define FREESTONE_RUNTIME_PLATFORM_FUTEX_H

#include <atomic>
#include <chrono>
#include <cstdint>

namespace freestone::runtime::platform {

/// Sleeps while `word` holds `expected`, until woken or until `timeout` has passed (zero: no timeout). May return
/// early.
void futexWait(std::atomic<uint32_t> &word, uint32_t expected, std::chrono::milliseconds timeout);

/// Wakes all threads that sleep on `word`.
void futexWakeAll(std::atomic<uint32_t> &word);

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_FUTEX_H
