#ifndef FREESTONE_TEST_RUNTIME_HOLD_H
#define FREESTONE_TEST_RUNTIME_HOLD_H

#include <atomic>
#include <cstdint>
#include <thread>

namespace freestone::test {

/// Blocks runs until released.
struct Hold {
  std::atomic<bool> isInside = false, mayLeave = false;

  static int32_t poll(void *user) {
    auto &hold = *static_cast<Hold *>(user);
    hold.isInside = true;
    while (!hold.mayLeave)
      std::this_thread::yield();
    return 0;
  }
  void awaitInside() const {
    while (!isInside)
      std::this_thread::yield();
  }
};

} // namespace freestone::test

#endif // FREESTONE_TEST_RUNTIME_HOLD_H
