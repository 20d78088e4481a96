#ifndef FREESTONE_RUNTIME_WORKERS_FLOATINGPOINT_H
#define FREESTONE_RUNTIME_WORKERS_FLOATINGPOINT_H

#include "runtime/machine/Instructions.h"

namespace freestone::runtime {

/// For its lifetime, sets this thread to round to nearest, mask all floating-point exceptions and keep denormals; then
/// restores the caller's mode.
class FloatingPointState {
public:
  FloatingPointState() : saved(setFloatingPointMode(plainFloatingPointMode)) {}
  ~FloatingPointState() { setFloatingPointMode(saved); }
  FloatingPointState(const FloatingPointState &) = delete;
  FloatingPointState &operator=(const FloatingPointState &) = delete;

private:
  FloatingPointMode saved;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_FLOATINGPOINT_H
