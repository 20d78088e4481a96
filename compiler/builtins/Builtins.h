#ifndef FREESTONE_COMPILER_BUILTINS_BUILTINS_H
#define FREESTONE_COMPILER_BUILTINS_BUILTINS_H

#include "llvm/ADT/ArrayRef.h"

namespace freestone {

/// A relocatable ELF object for x86-64-v3 with every function that LLVM may call from code over i8…i64, f16, bf16, f32
/// and f64, for that processor or a later one: memcpy memmove memset memcmp, fmod(f), fmin(f), fmax(f), fma(f),
/// roundeven(f), and the conversions between f16 or bf16 and f32 or f64; and `freestone_compute_sizes`. One section a
/// function, no undefined symbols, no data. The bytes are static.
llvm::ArrayRef<char> getBuiltinsObject();

} // namespace freestone

#endif // FREESTONE_COMPILER_BUILTINS_BUILTINS_H
