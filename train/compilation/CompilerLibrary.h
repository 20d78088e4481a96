// The compiler, opened on demand through its C interface: whoever trains a compiled step never gets here, and loads no
// LLVM.
#ifndef FREESTONE_TRAIN_COMPILERLIBRARY_H
#define FREESTONE_TRAIN_COMPILERLIBRARY_H

#include "compiler/driver/Interface.h"

namespace freestone::train {

/// Opens libfreestone_compiler.so, once: from the folder of this code, from ../lib beside it, else wherever the loader
/// finds it. Thread-safe. Throws Error that says why it can't be opened.
const freestone_compiler_interface &openCompiler();

} // namespace freestone::train

#endif // FREESTONE_TRAIN_COMPILERLIBRARY_H
