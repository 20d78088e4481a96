#ifndef FREESTONE_COMPILER_DIALECT_SYM_SYNTAX_H
#define FREESTONE_COMPILER_DIALECT_SYM_SYNTAX_H

#include "compiler/dialect/sym/Expr.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir {
class AsmParser;
class AsmPrinter;
} // namespace mlir

namespace freestone::sym {

/// Reads an expression as it is printed (`4*h + s floordiv 2`, `min(512, s)`), and as ONNX's dim_params and PyTorch's
/// exporters write it (`Min(512, seq)`, `batch//2`, `s % 2`, `FloorDiv(s, 2)`, `s**2`). Names that are not identifiers
/// stand in quotes. On failure `error`, where given, says what was expected and at which column.
llvm::FailureOr<Expr> parseExpr(mlir::MLIRContext *context, llvm::StringRef text, std::string *error = nullptr);

/// Reads a bare expression of the textual IR; fails with a diagnostic.
llvm::ParseResult parseExpr(mlir::AsmParser &parser, Expr &expr);
void printExpr(mlir::AsmPrinter &printer, Expr expr);

/// Reads and prints `[b, 4*s + 1, 768]`, a shape as it stands in types.
llvm::ParseResult parseShape(mlir::AsmParser &parser, llvm::SmallVectorImpl<Expr> &shape);
void printShape(mlir::AsmPrinter &printer, llvm::ArrayRef<Expr> shape);

} // namespace freestone::sym

namespace mlir {
inline AsmPrinter &operator<<(AsmPrinter &printer, freestone::sym::Expr expr) {
  freestone::sym::printExpr(printer, expr);
  return printer;
}
} // namespace mlir

#endif // FREESTONE_COMPILER_DIALECT_SYM_SYNTAX_H
