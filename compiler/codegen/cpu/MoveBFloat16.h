#ifndef FREESTONE_COMPILER_CODEGEN_CPU_MOVEBFLOAT16_H
#define FREESTONE_COMPILER_CODEGEN_CPU_MOVEBFLOAT16_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace freestone::codegen {

/// `codegen-move-bf16`: loads, stores, selections, shuffles and branches take bf16 as integers of 16 bits; only
/// operations that compute or convert take bf16. LLVM has no registers for bf16 where no instruction of the processor
/// computes in it: moved as bf16, it would be widened and rounded lane by lane.
std::unique_ptr<mlir::Pass> createMoveBFloat16Pass();

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_MOVEBFLOAT16_H
