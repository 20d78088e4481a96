#ifndef FREESTONE_COMPILER_PLAN_ROWSACROSS_H
#define FREESTONE_COMPILER_PLAN_ROWSACROSS_H

#include "compiler/plan/RowPasses.h"

namespace freestone::tile {

/// An operand of passes over rows whose neighbours in memory belong to neighbouring rows, such as the channels of a
/// pixel: vectors along a row would gather them in each pass. As many rows as a vector has lanes are copied before the
/// first of them is computed, transposed in registers.
struct RowsAcross {
  /// The program's argument, and a compute that reads it as every other does.
  mlir::Value argument;
  ComputeOp reader;
  unsigned input;
  /// Elements of a row, from one row of the copy to the next, and of the copy.
  sym::Expr length, pitch, elements;

  /// Fails, with a reason in `why`, if rows of the argument can't be copied for vectors of so many lanes.
  static mlir::FailureOr<RowsAcross> get(ProgramOp program, const RowPasses &passes, unsigned rowLoops,
                                         unsigned argument, int64_t lanes, std::string &why);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ROWSACROSS_H
