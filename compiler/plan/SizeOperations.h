#ifndef FREESTONE_COMPILER_PLAN_SIZEOPERATIONS_H
#define FREESTONE_COMPILER_PLAN_SIZEOPERATIONS_H

#include "compiler/dialect/tile/TileDialect.h"
#include "llvm/Support/MathExtras.h"

namespace freestone::tile {

/// The operations of geometries that are computed both as expressions, for plans, and on integers, for costs.
struct ExprOperations {
  mlir::MLIRContext *context;

  sym::Expr constant(int64_t value) const { return sym::Expr::constant(context, value); }
  static sym::Expr min(sym::Expr lhs, sym::Expr rhs) { return sym::Expr::min(lhs, rhs); }
  static sym::Expr max(sym::Expr lhs, sym::Expr rhs) { return sym::Expr::max(lhs, rhs); }
  static sym::Expr floorDiv(sym::Expr lhs, sym::Expr rhs) { return sym::Expr::floorDiv(lhs, rhs); }
  static sym::Expr ceilDiv(sym::Expr lhs, sym::Expr rhs) { return sym::Expr::ceilDiv(lhs, rhs); }
};

struct IntegerOperations {
  static int64_t constant(int64_t value) { return value; }
  static int64_t min(int64_t lhs, int64_t rhs) { return std::min(lhs, rhs); }
  static int64_t max(int64_t lhs, int64_t rhs) { return std::max(lhs, rhs); }
  static int64_t floorDiv(int64_t lhs, int64_t rhs) { return lhs / rhs; }
  static int64_t ceilDiv(int64_t lhs, int64_t rhs) { return llvm::divideCeil(lhs, rhs); }
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_SIZEOPERATIONS_H
