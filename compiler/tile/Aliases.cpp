#include "compiler/tile/Aliases.h"

#include "compiler/dialect/tile/TileDialect.h"

using namespace mlir;
using namespace freestone;

Value tile::getMemory(Value value) {
  while (isAlias(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}
