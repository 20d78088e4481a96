// The compiler, loaded on demand through its C interface: what runs artifacts, or finds them in the cache, never gets
// here and loads no LLVM.
#ifndef FREESTONE_COMPILATION_COMPILERLIBRARY_H
#define FREESTONE_COMPILATION_COMPILERLIBRARY_H

#include "compiler/driver/Interface.h"

namespace freestone::compilation {

/// Loads libfreestone_compiler.so, once: from the folder of this code, from ../lib beside it, else by the loader's
/// search. Thread-safe. Throws freestone::Error (INCOMPATIBLE) with the reason.
const freestone_compiler_interface &openCompiler();

} // namespace freestone::compilation

#endif // FREESTONE_COMPILATION_COMPILERLIBRARY_H
