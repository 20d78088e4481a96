#ifndef FREESTONE_COMPILER_PLAN_SCRATCH_H
#define FREESTONE_COMPILER_PLAN_SCRATCH_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Bytes of scratch that so many elements of a storage type take: whole cache lines.
sym::Expr getScratchBytes(sym::Expr elements, mlir::Type storageType);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_SCRATCH_H
