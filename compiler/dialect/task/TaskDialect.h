#ifndef FREESTONE_COMPILER_DIALECT_TASK_TASKDIALECT_H
#define FREESTONE_COMPILER_DIALECT_TASK_TASKDIALECT_H

#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

#include "compiler/dialect/task/TaskDialect.h.inc"
#include "compiler/dialect/task/TaskEnums.h.inc"

namespace freestone::task {
class BufferOp;
class PhaseOp;
class SpaceOp;
class ViewOp;

/// The buffer of an operand: itself, or that of a view.
BufferOp findBuffer(mlir::Value value);

/// Whether tile t of two spaces with these accesses (see `task.space`) touches the same elements, and no other tile
/// does.
inline bool areAligned(mlir::Attribute one, mlir::Attribute other) {
  return mlir::isa<sym::ExprAttr>(one) && one == other;
}
} // namespace freestone::task

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/task/TaskAttributes.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/task/TaskOps.h.inc"

#endif // FREESTONE_COMPILER_DIALECT_TASK_TASKDIALECT_H
