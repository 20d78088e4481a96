#include "compiler/tile/Aliases.h"

#include "compiler/dialect/tile/TileDialect.h"

using namespace mlir;
using namespace freestone;

bool tile::isUpdate(Operation *op) { return op && op->hasAttr(updatesAttr); }

bool tile::isAppend(Operation *op) { return op && op->hasAttr(appendsAttr); }

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
