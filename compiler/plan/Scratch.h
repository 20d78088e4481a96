#ifndef FREESTONE_COMPILER_PLAN_SCRATCH_H
#define FREESTONE_COMPILER_PLAN_SCRATCH_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Bytes of scratch for `elements` of a storage type, rounded up to cache lines.
sym::Expr getScratchBytes(sym::Expr elements, mlir::Type storageType);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_SCRATCH_H
