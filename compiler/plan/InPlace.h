#ifndef FREESTONE_COMPILER_PLAN_INPLACE_H
#define FREESTONE_COMPILER_PLAN_INPLACE_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether the computes of one program, given in their order, read certain tensors only at the element that is written
/// to `result`, a result of one of them, and before it is written, however the program is tiled: then the result may
/// lie where those tensors do, if its elements are as large. `isOverwritten` tells which operands these are.
bool areReadWhereWritten(llvm::ArrayRef<ComputeOp> computes, mlir::Value result,
                         llvm::function_ref<bool(mlir::Value)> isOverwritten);

/// Whether result number `result` of a program with a plan may lie in the memory of all arguments with these numbers,
/// element for element: as above, or because its tiles read whole rows before they write them.
bool mayOverwrite(ProgramOp program, unsigned result, llvm::ArrayRef<unsigned> arguments);
/// Whether any result may lie where an argument does: elements can't be computed again after they are written.
bool mayOverwriteAny(ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_INPLACE_H
