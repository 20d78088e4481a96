#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using sym::Expr;

Expr tile::getScratchBytes(Expr elements, Type storageType) {
  constexpr int64_t line = 64;
  return Expr::ceilDiv(elements * (storageType.getIntOrFloatBitWidth() / 8), line) * line;
}
