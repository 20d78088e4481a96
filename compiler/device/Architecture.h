#ifndef FREESTONE_COMPILER_DEVICE_ARCHITECTURE_H
#define FREESTONE_COMPILER_DEVICE_ARCHITECTURE_H

#include "compiler/device/DeviceDescription.h"
#include "runtime/machine/Processor.h"

namespace freestone {

/// Fills in all that follows from a processor's architecture: LLVM's target, instructions, vectors, the pair unit. One
/// file an architecture, as in `runtime/machine`. Fails for a processor that programs can't be compiled for.
llvm::Error describeProcessor(const runtime::Processor &processor, DeviceDescription &device);

/// Fails, naming the place, where the architecture has no such vectors, or where the description's instructions lack
/// what code for its vectors and units uses.
llvm::Error requireInstructions(const DeviceDescription &device);

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_ARCHITECTURE_H
