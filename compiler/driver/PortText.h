#ifndef FREESTONE_COMPILER_DRIVER_PORTTEXT_H
#define FREESTONE_COMPILER_DRIVER_PORTTEXT_H

#include "compiler/import/ImportOnnx.h"
#include "llvm/Support/JSON.h"

namespace freestone::driver {

/// Inputs or outputs as JSON: `[{"name": "x", "type": "f32", "shape": ["batch", 784]}, …]`; with
/// a `kind` where they are no tensors.
llvm::json::Array describePorts(const std::vector<PortReport> &ports);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_PORTTEXT_H
