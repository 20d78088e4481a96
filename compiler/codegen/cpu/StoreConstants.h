#ifndef FREESTONE_COMPILER_CODEGEN_CPU_STORECONSTANTS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_STORECONSTANTS_H

#include <cstdint>

namespace llvm {
class Module;
} // namespace llvm

namespace freestone::codegen {

/// Lets loops read vectors of equal constants from memory, as operands of the instructions that use them, where a
/// function has so many that too few registers are left to values, or several loops have some. LLVM keeps them in
/// registers over all of a function's loops, so that it moves and stores what these need, spills sums beside them, or
/// broadcasts them in each turn, an instruction for each. The few that are used most stay as they are, and so do those
/// of shifts, which are part of the instruction. For processors whose vectors have `vectorBytes`, and which have few
/// registers for them. Returns the number of constants that are read so.
int64_t storeConstants(llvm::Module &module, unsigned vectorBytes, unsigned vectorRegisters);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_STORECONSTANTS_H
