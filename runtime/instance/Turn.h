#ifndef FREESTONE_RUNTIME_INSTANCE_TURN_H
#define FREESTONE_RUNTIME_INSTANCE_TURN_H

#include <atomic>

namespace freestone::runtime {

/// Exclusive use of an object for a scope. A second user is refused and does not wait.
class Turn {
public:
  /// For objects with a single user.
  Turn() = default;
  explicit Turn(std::atomic<bool> &taken) : taken(&taken), granted(!taken.exchange(true, std::memory_order_acquire)) {}
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;
  ~Turn() {
    if (taken && granted)
      taken->store(false, std::memory_order_release);
  }

  explicit operator bool() const { return granted; }

private:
  std::atomic<bool> *taken = nullptr;
  bool granted = true;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_TURN_H
