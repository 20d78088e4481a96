#include "compiler/tile/Aliases.h"

#include "compiler/dialect/tile/TileDialect.h"

using namespace mlir;
using namespace freestone;

bool tile::isUpdate(Operation *op) { return op && op->hasAttr(updatesAttr); }

Value tile::getAliased(Value value) {
  while (isAlias(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Value tile::getMemory(Value value) {
  value = getAliased(value);
  while (isUpdate(value.getDefiningOp()) && cast<OpResult>(value).getResultNumber() == 0)
    value = getAliased(value.getDefiningOp()->getOperand(0));
  return value;
}
