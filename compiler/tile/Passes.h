#ifndef FREESTONE_COMPILER_TILE_PASSES_H
#define FREESTONE_COMPILER_TILE_PASSES_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace freestone::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/tile/Passes.h.inc"

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_PASSES_H
