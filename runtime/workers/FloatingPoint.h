#ifndef FREESTONE_RUNTIME_FLOATINGPOINT_H
#define FREESTONE_RUNTIME_FLOATINGPOINT_H

#include "runtime/machine/Instructions.h"

namespace freestone::runtime {

/// While it lives, this thread rounds to nearest, masks all floating-point exceptions and keeps denormals, whatever the
/// caller had set.
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

#endif // FREESTONE_RUNTIME_FLOATINGPOINT_H
