#include "compiler/interpreter/Symbols.h"

using namespace mlir;

namespace freestone::interpreter {

std::optional<int64_t> Symbols::find(StringRef symbol) const {
  for (const llvm::StringMap<int64_t> &scope : llvm::reverse(scopes))
    if (auto found = scope.find(symbol); found != scope.end())
      return found->second;
  return std::nullopt;
}

std::optional<int64_t> Symbols::evaluate(sym::Expr expr) const {
  return expr.evaluate([&](StringRef symbol) { return find(symbol); });
}

FailureOr<int64_t> Symbols::getOffset(Operation *op, sym::Expr expr) const {
  if (std::optional<int64_t> value = evaluate(expr))
    return *value;
  return op->emitError() << expr.str() << " has no value: a symbol of it is not bound, or it leaves 64 bits";
}

FailureOr<int64_t> Symbols::getSize(Operation *op, sym::Expr expr) const {
  FailureOr<int64_t> value = getOffset(op, expr);
  if (succeeded(value) && *value < 0)
    return op->emitError() << "the size " << expr.str() << " is " << *value;
  return value;
}

FailureOr<Dims> Symbols::getDims(Operation *op, ArrayRef<sym::Expr> shape) const {
  Dims dims;
  for (sym::Expr size : shape) {
    FailureOr<int64_t> value = getSize(op, size);
    if (failed(value))
      return failure();
    dims.push_back(*value);
  }
  return dims;
}

void Symbols::bindSizes(ArrayRef<sym::Expr> shape, ArrayRef<int64_t> dims) {
  for (auto [expr, size] : llvm::zip_equal(shape, dims))
    if (auto multiple = expr.asMultiple(); multiple && !find(multiple->first))
      bind(multiple->first, size / multiple->second);
}

LogicalResult Symbols::require(Operation *op, const Twine &what, graph::TensorType type, const Tensor &tensor) const {
  if (tensor.getElementType() != type.getElementType() || tensor.getRank() != type.getRank())
    return op->emitError() << what << " has " << tensor.getRank() << " dimensions of " << tensor.getElementType()
                           << ", expected " << type;
  for (auto [dim, expr, actual] : llvm::enumerate(type.getShape(), tensor.getDims())) {
    std::optional<int64_t> expected = evaluate(expr);
    if (expected == actual)
      continue;
    InFlightDiagnostic diagnostic = op->emitError();
    diagnostic << what << " has size " << actual << " at dimension " << dim << ", expected " << expr.str();
    if (expected && !expr.isConstant())
      diagnostic << " = " << *expected;
    return diagnostic;
  }
  return success();
}

} // namespace freestone::interpreter
