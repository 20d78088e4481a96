#ifndef FREESTONE_COMPILER_CODEGEN_CPU_MATH_EXPANDMATH_H
#define FREESTONE_COMPILER_CODEGEN_CPU_MATH_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace freestone::codegen {

/// Rewrites `math` operations without an instruction of their own (exp, log, tanh, sin, pow, …) on f32 and f64, scalar
/// or vector, to `arith` by the functions of Elementary.h. What the processor has (sqrt, fma, floor, roundeven, …)
/// stays.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns);

/// Rewrites conversions of f64 to bf16 and f16, and of integers of 32 and 64 bits to bf16, so that they round once, by
/// way of f32. Before bf16 and f16 themselves are emulated in f32.
void populateExpandConversionPatterns(mlir::RewritePatternSet &patterns);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_MATH_EXPANDMATH_H
