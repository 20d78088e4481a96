#ifndef FREESTONE_COMPILER_PIPE_PASSES_H
#define FREESTONE_COMPILER_PIPE_PASSES_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace freestone::pipe {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/pipe/Passes.h.inc"

} // namespace freestone::pipe

#endif // FREESTONE_COMPILER_PIPE_PASSES_H
