#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHDIALECT_H
#define FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHDIALECT_H

#include "compiler/dialect/graph/Refusal.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/graph/GraphDialect.h.inc"
#include "compiler/dialect/graph/GraphEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/graph/GraphTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/graph/GraphAttributes.h.inc"

#include "compiler/dialect/graph/GraphInterfaces.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/graph/GraphOps.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace freestone::graph {

/// Whether tensors may have elements of this type.
bool isElementType(mlir::Type type);

/// Whether elements of this type are only stored, moved and cast: float8, float4, and integers below a byte. Within
/// programs each is a byte: the code of a float, or the integer, extended.
bool isStorageOnly(mlir::Type elementType);

/// Whether an operator takes elements that are only stored, moved and cast.
bool takesStorageOnly(mlir::Operation *op);

/// Whether several elements of this type share a byte outside of programs (see PackedAttr).
bool isSubByte(mlir::Type elementType);

/// The shape of a value, which must be a tensor.
inline llvm::ArrayRef<sym::Expr> getShape(mlir::Value value) {
  return llvm::cast<TensorType>(value.getType()).getShape();
}

/// The element type of a value, which must be a tensor.
inline mlir::Type getElementType(mlir::Value value) { return llvm::cast<TensorType>(value.getType()).getElementType(); }

/// A symbol that an element of a float argument binds is that number in units of 2^-32, of which f32 has whole ones
/// from 2^-8 on.
constexpr int floatSymbolBits = 32;
/// The value of such a symbol; nothing for other numbers, and those of 2^30 or more.
std::optional<int64_t> toFloatSymbol(double number);

/// Lists of expressions as plain array attributes, for dialects whose attributes are generic.
mlir::ArrayAttr getExprArrayAttr(mlir::MLIRContext *context, llvm::ArrayRef<sym::Expr> exprs);
llvm::SmallVector<sym::Expr> getExprs(mlir::ArrayAttr attr);

/// Registers `graph` and the dialects of its programs (`sym`, `func`).
void registerGraphDialects(mlir::DialectRegistry &registry);

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHDIALECT_H
