#ifndef FREESTONE_RUNTIME_MACHINE_X86_INSTRUCTIONS_H
#define FREESTONE_RUNTIME_MACHINE_X86_INSTRUCTIONS_H

#include <immintrin.h>

namespace freestone::runtime {

inline void pauseInstruction() { _mm_pause(); }

using FloatingPointMode = unsigned;
inline constexpr FloatingPointMode plainFloatingPointMode = 0x1f80;

inline FloatingPointMode setFloatingPointMode(FloatingPointMode mode) {
  FloatingPointMode before = _mm_getcsr();
  _mm_setcsr(mode);
  return before;
}

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_MACHINE_X86_INSTRUCTIONS_H
