#ifndef FREESTONE_COMPILER_CODEGEN_CPU_TARGETMACHINE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_TARGETMACHINE_H

#include "compiler/device/DeviceDescription.h"
#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace freestone::codegen {

/// LLVM's code generator for the device; null where this LLVM has none.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(const DeviceDescription &device);

/// Fails, naming the place, for a description whose parts contradict each other: code would be wrong, or a machine that
/// can't run it would not refuse it. Descriptions of targets never do.
llvm::Error requireConsistent(const DeviceDescription &device);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_TARGETMACHINE_H
