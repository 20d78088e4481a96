// The compiler, loaded on demand through its C interface: training with a compiled step never gets here and loads no
// LLVM.
#ifndef FREESTONE_TRAIN_COMPILATION_COMPILERLIBRARY_H
#define FREESTONE_TRAIN_COMPILATION_COMPILERLIBRARY_H

#include "compiler/driver/Interface.h"

namespace freestone::train {

/// Loads libfreestone_compiler.so, once: from the folder of this code, from ../lib beside it, else by the loader's
/// search. Thread-safe. Throws Error with the reason.
const freestone_compiler_interface &openCompiler();

} // namespace freestone::train

#endif // FREESTONE_TRAIN_COMPILATION_COMPILERLIBRARY_H
