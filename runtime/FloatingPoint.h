#ifndef FREESTONE_RUNTIME_FLOATINGPOINT_H
#define FREESTONE_RUNTIME_FLOATINGPOINT_H

#include <immintrin.h>

namespace freestone::runtime {

/// While it lives, this thread rounds to nearest, masks all floating-point exceptions and keeps denormals, whatever the
/// caller had set.
class FloatingPointState {
public:
  FloatingPointState() : saved(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~FloatingPointState() { _mm_setcsr(saved); }
  FloatingPointState(const FloatingPointState &) = delete;
  FloatingPointState &operator=(const FloatingPointState &) = delete;

private:
  unsigned saved;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_FLOATINGPOINT_H
