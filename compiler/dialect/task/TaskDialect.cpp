#include "compiler/dialect/task/TaskDialect.h"

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "compiler/dialect/task/TaskDialect.cpp.inc"
#include "compiler/dialect/task/TaskEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/task/TaskAttributes.cpp.inc"

void freestone::task::TaskDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/task/TaskAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/task/TaskOps.cpp.inc"
      >();
}
