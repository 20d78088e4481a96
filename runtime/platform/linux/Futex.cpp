#include "runtime/platform/Futex.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace freestone::runtime;

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);

void platform::futexWait(std::atomic<uint32_t> &word, uint32_t expected, std::chrono::milliseconds timeout) {
  timespec limit = {};
  limit.tv_sec = timeout.count() / 1000;
  limit.tv_nsec = timeout.count() % 1000 * 1'000'000;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout.count() > 0 ? &limit : nullptr, nullptr, 0);
}

void platform::futexWakeAll(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}
