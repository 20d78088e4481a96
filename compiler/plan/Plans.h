#ifndef FREESTONE_COMPILER_PLAN_PLANS_H
#define FREESTONE_COMPILER_PLAN_PLANS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The plan that follows from a tiling: the number of tiles, scratch, and the elements that a tile touches. Fails with a
/// diagnostic where the program is not of the form that the tiling is for.
mlir::FailureOr<PlanAttr> makePlan(ProgramOp program, mlir::Attribute tiling);

/// Whether a program has a plan, and the plan is the one that follows from its tiling: code is made of the tiling, and
/// calls it for so many tiles with so much scratch. Fails with a diagnostic.
mlir::LogicalResult verifyPlan(ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_PLANS_H
