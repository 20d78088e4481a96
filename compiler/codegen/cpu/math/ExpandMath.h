#ifndef FREESTONE_COMPILER_CODEGEN_CPU_MATH_EXPANDMATH_H
#define FREESTONE_COMPILER_CODEGEN_CPU_MATH_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace freestone::codegen {

/// Rewrites `math` operations without a machine instruction (exp, log, tanh, sin, pow, …) on f32 and f64, scalar or
/// vector, to `arith` by the functions of Elementary.h. Operations with an instruction (sqrt, fma, floor, roundeven, …)
/// stay. Vectors of 64 bytes use instructions of AVX-512 where `vectorBytes`, the device's, says that it has them.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns, unsigned vectorBytes);

/// Rewrites roundings of f32 to integers of 8 and 16 bits within bounds.
void populateQuantisePatterns(mlir::RewritePatternSet &patterns);

/// Rewrites remainders of f32, so that vectors call a function only where a quotient is long, infinite or not a number.
void populateExpandRemainderPatterns(mlir::RewritePatternSet &patterns);

/// Rewrites conversions of f64 to bf16 and f16, and of integers of 32 and 64 bits to bf16, so that they round once, by
/// way of f32; and drops the rounding to bf16, before a conversion back, of what is a bf16 already. Must run before
/// bf16 and f16 are emulated in f32.
void populateExpandConversionPatterns(mlir::RewritePatternSet &patterns);

/// Rewrites lookups in tables of bytes: by an instruction that permutes the bytes of two registers of 64 where there is
/// one, else by shuffles of vectors of up to `vectorBytes`.
void populateExpandLookupPatterns(mlir::RewritePatternSet &patterns, unsigned vectorBytes, bool permutesBytes);

/// Rewrites roundings of f32 to bf16, for devices without an instruction for it.
void populateExpandBFloat16Patterns(mlir::RewritePatternSet &patterns);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_MATH_EXPANDMATH_H
