#ifndef FREESTONE_COMPILER_ARTIFACT_LINK_H
#define FREESTONE_COMPILER_ARTIFACT_LINK_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace freestone::artifact {

/// One relocatable object: ELF bytes.
using Object = std::vector<char>;

/// Links objects, in this order, into a shared library that exports `freestone_table` alone and needs nothing: no other
/// library, no undefined symbol, no writable data. Runs lld in this process, without a file; calls are serialised.
/// Equal objects give equal bytes. On failure `error` holds the linker's messages.
mlir::FailureOr<Object> link(llvm::ArrayRef<Object> objects, std::string &error);

} // namespace freestone::artifact

#endif // FREESTONE_COMPILER_ARTIFACT_LINK_H
