#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_UNIFY_H
#define FREESTONE_COMPILER_DIALECT_GRAPH_UNIFY_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::graph {

/// Expresses the symbols of a callee's signature in symbols of its caller. A symbol that stands alone as a size is
/// bound by the first size that it meets; all other sizes of the signature must then agree.
class Unifier {
public:
  /// Binds the unbound symbols that are whole sizes of `formal`; ranks must agree.
  void bind(TensorType formal, TensorType actual);
  /// Why `actual` differs from `formal` under the bound symbols: a sentence without subject; empty if they agree.
  std::string explainMismatch(TensorType formal, TensorType actual) const;

  sym::Expr apply(sym::Expr expr) const;
  TensorType apply(TensorType type) const;

private:
  llvm::StringMap<sym::Expr> bound;
};

/// Unifies the parameters of a function with arguments of these types. Fails where they do not fit; `error`, where
/// given, says why.
llvm::LogicalResult unifyArguments(mlir::FunctionType callee, mlir::TypeRange arguments, Unifier &unifier,
                                   std::string *error);

/// The result types of a call; symbols that the arguments do not bind stay unchanged. Fails as `unifyArguments` does.
llvm::FailureOr<llvm::SmallVector<mlir::Type>> deduceCall(mlir::FunctionType callee, mlir::TypeRange arguments,
                                                          std::string *error = nullptr);

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_UNIFY_H
