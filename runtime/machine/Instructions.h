#ifndef FREESTONE_RUNTIME_MACHINE_INSTRUCTIONS_H
#define FREESTONE_RUNTIME_MACHINE_INSTRUCTIONS_H

// pauseInstruction(): spin-wait hint to the processor.
// setFloatingPointMode(mode): sets rounding, exceptions and denormals of this thread, and returns the previous mode;
// plainFloatingPointMode rounds to nearest, masks all exceptions and keeps denormals.
#if defined(__x86_64__)
#include "runtime/machine/x86/Instructions.h"
#else
#error "runtime/machine has no folder for this architecture"
#endif

#endif // FREESTONE_RUNTIME_MACHINE_INSTRUCTIONS_H
