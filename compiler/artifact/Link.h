#ifndef FREESTONE_COMPILER_ARTIFACT_LINK_H
#define FREESTONE_COMPILER_ARTIFACT_LINK_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace freestone::artifact {

/// One relocatable object: ELF bytes.
using Object = std::vector<char>;

/// Links objects, in this order, into a self-contained shared library: it exports `freestone_table` alone and has no
/// dependencies, undefined symbols or writable data. Runs lld in this process, without files on disk; thread-safe, but
/// one link at a time. Equal objects give equal bytes. On failure `error` holds the linker's messages.
mlir::FailureOr<Object> link(llvm::ArrayRef<Object> objects, std::string &error);

} // namespace freestone::artifact

#endif // FREESTONE_COMPILER_ARTIFACT_LINK_H
