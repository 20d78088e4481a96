#include "compiler/dialect/graph/Unify.h"

using namespace mlir;

namespace freestone::graph {

void Unifier::bind(TensorType formal, TensorType actual) {
  for (auto [symbol, size] : llvm::zip_equal(formal.getShape(), actual.getShape()))
    if (std::optional<StringRef> name = symbol.asSymbol())
      bound.try_emplace(*name, size);
}

sym::Expr Unifier::apply(sym::Expr expr) const {
  return expr.substitute([&](StringRef name) -> std::optional<sym::Expr> {
    auto found = bound.find(name);
    return found == bound.end() ? std::nullopt : std::optional(found->second);
  });
}

TensorType Unifier::apply(TensorType type) const {
  return type.withShape(llvm::map_to_vector(type.getShape(), [&](sym::Expr size) { return apply(size); }));
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string Unifier::explainMismatch(TensorType formal, TensorType actual) const {
  if (formal.getRank() != actual.getRank() || formal.getElementType() != actual.getElementType())
    return "has " + print(actual) + " where " + print(formal) + " is expected";
  for (auto [dim, expected, size] : llvm::enumerate(formal.getShape(), actual.getShape()))
    if (apply(expected) != size)
      return "has size " + size.str() + " at dimension " + std::to_string(dim) + " of " + print(actual) + " where " +
             apply(expected).str() + " is expected";
  return {};
}

LogicalResult unifyArguments(FunctionType callee, TypeRange arguments, Unifier &unifier, std::string *error) {
  auto refuse = [&](std::string reason) {
    if (error)
      *error = std::move(reason);
    return failure();
  };
  if (callee.getNumInputs() != arguments.size())
    return refuse("gives " + std::to_string(arguments.size()) + " arguments to " +
                  std::to_string(callee.getNumInputs()) + " parameters");
  for (auto [formal, actual] : llvm::zip_equal(callee.getInputs(), arguments)) {
    auto to = dyn_cast<TensorType>(formal), from = dyn_cast<TensorType>(actual);
    if (!to || !from || to.getRank() != from.getRank())
      return refuse("has " + print(actual) + " where " + print(formal) + " is expected");
    unifier.bind(to, from);
  }
  for (auto [formal, actual] : llvm::zip_equal(callee.getInputs(), arguments))
    if (std::string reason = unifier.explainMismatch(cast<TensorType>(formal), cast<TensorType>(actual));
        !reason.empty())
      return refuse(std::move(reason));
  return success();
}

FailureOr<SmallVector<Type>> deduceCall(FunctionType callee, TypeRange arguments, std::string *error) {
  Unifier unifier;
  if (failed(unifyArguments(callee, arguments, unifier, error)))
    return failure();
  return llvm::map_to_vector(callee.getResults(),
                             [&](Type type) -> Type { return unifier.apply(cast<TensorType>(type)); });
}

} // namespace freestone::graph
