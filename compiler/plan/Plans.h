#ifndef FREESTONE_COMPILER_PLAN_PLANS_H
#define FREESTONE_COMPILER_PLAN_PLANS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The plan that follows from a tiling: number of tiles, scratch, and the elements that a tile touches. Fails with a
/// diagnostic if the program's form does not match the tiling.
mlir::FailureOr<PlanAttr> makePlan(ProgramOp program, mlir::Attribute tiling);

/// Verifies that a program has a plan, and that it follows from its tiling: code follows the tiling, its caller the
/// plan. Fails with a diagnostic.
mlir::LogicalResult verifyPlan(ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_PLANS_H
