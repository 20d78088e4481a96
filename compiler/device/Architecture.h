#ifndef FREESTONE_COMPILER_DEVICE_ARCHITECTURE_H
#define FREESTONE_COMPILER_DEVICE_ARCHITECTURE_H

#include "compiler/device/DeviceDescription.h"
#include "runtime/machine/Processor.h"

namespace freestone {

/// Says all of a processor that follows from its architecture: what LLVM is told, instructions, vectors, the pair unit.
/// One file an architecture, as of `runtime/machine`. Fails for a processor that programs can't be compiled for.
llvm::Error describeProcessor(const runtime::Processor &processor, DeviceDescription &device);

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_ARCHITECTURE_H
