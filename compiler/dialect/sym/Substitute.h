#ifndef FREESTONE_COMPILER_DIALECT_SYM_SUBSTITUTE_H
#define FREESTONE_COMPILER_DIALECT_SYM_SUBSTITUTE_H

#include "compiler/dialect/sym/Expr.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace freestone::sym {

/// A substitution of symbols in expressions, which have many atoms in common. It refers to its replacement.
class Substitution {
public:
  using Replacement = llvm::function_ref<std::optional<Expr>(llvm::StringRef)>;

  explicit Substitution(Replacement replacement) : replacement(replacement) {}

  Expr in(Expr expr);

private:
  Expr ofAtom(Expr atom);
  Expr compute(Expr atom);

  Replacement replacement;
  llvm::SmallDenseMap<Expr, Expr, 8> known;
};

/// Replaces symbols in every type and attribute of `root` and the operations within it: a fact about a size holds for
/// the whole function at once.
void substituteSymbols(mlir::Operation *root, llvm::function_ref<std::optional<Expr>(llvm::StringRef)> replacement);

/// Replaces symbols in one attribute or type.
mlir::Type substituteSymbols(mlir::Type type, llvm::function_ref<std::optional<Expr>(llvm::StringRef)> replacement);
mlir::Attribute substituteSymbols(mlir::Attribute attribute,
                                  llvm::function_ref<std::optional<Expr>(llvm::StringRef)> replacement);

/// Adds the symbols that definitions ([name, size], each by symbols defined before it) derive from some of these; none
/// for a null list.
void addDefined(mlir::ArrayAttr definitions, llvm::SmallDenseSet<mlir::StringAttr> &symbols);

} // namespace freestone::sym

#endif // FREESTONE_COMPILER_DIALECT_SYM_SUBSTITUTE_H
