#ifndef FREESTONE_COMPILER_DIALECT_SYM_SYMBOLICRANGE_H
#define FREESTONE_COMPILER_DIALECT_SYM_SYMBOLICRANGE_H

#include "compiler/dialect/sym/Expr.h"

namespace freestone::sym {

/// The least and the greatest value of a symbol or an expression, as expressions of other symbols.
struct SymbolicRange {
  Expr least, greatest;
};

/// A range that holds every value of the expression while the symbols that `rangeOf` knows are within theirs; other
/// symbols stay. Factors of products, being sizes, are taken not to be negative. Sound, not always tight.
SymbolicRange findRange(Expr expr, llvm::function_ref<std::optional<SymbolicRange>(llvm::StringRef)> rangeOf);

} // namespace freestone::sym

#endif // FREESTONE_COMPILER_DIALECT_SYM_SYMBOLICRANGE_H
