#ifndef FREESTONE_COMPILER_IMPORT_TENSOR_H
#define FREESTONE_COMPILER_IMPORT_TENSOR_H

#include "compiler/import/Element.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace freestone::importer {

using sym::Expr;
using Shape = llvm::SmallVector<Expr, 4>;

inline bool areConstant(llvm::ArrayRef<Expr> values) {
  return llvm::all_of(values, [](Expr value) { return value.isConstant(); });
}

class GraphBuilder;

/// A tensor of the graph under construction: a handle on state that the builder owns. Its shape and type are always
/// known. A small one may be known by content and then exists in the program only once something asks for its
/// `value()`.
///
/// A null tensor stands for what could not be built; every operation on one gives another, so that an operator's
/// definition reads without error handling. The builder keeps the reason.
class Tensor {
public:
  struct State {
    GraphBuilder *builder;
    Shape shape;
    mlir::Type elementType;
    mlir::Value value;
    std::optional<Content> content;
    /// Name of the weight that `value` is made from on demand.
    std::string weight;
  };

  Tensor() = default;
  explicit Tensor(State *state) : state(state) {}
  explicit operator bool() const { return state; }
  bool operator==(const Tensor &) const = default;

  GraphBuilder &builder() const { return *state->builder; }
  mlir::Type elementType() const { return state->elementType; }
  llvm::ArrayRef<Expr> shape() const { return state->shape; }
  int64_t rank() const { return state->shape.size(); }
  /// Negative axes count from the end; the axis must exist.
  Expr dim(int64_t axis) const { return state->shape[axis < 0 ? axis + rank() : axis]; }
  /// Known where the extent is constant.
  std::optional<int64_t> extent(int64_t axis) const { return dim(axis).asConstant(); }
  /// The elements, where they are known; they may depend on sizes.
  const Content *content() const { return state->content ? &*state->content : nullptr; }
  /// The elements, where they are known constants.
  const Content *constant() const;
  /// Whether every extent is constant.
  bool isStatic() const;
  Expr elementCount() const;

  bool isFloat() const { return llvm::isa<mlir::FloatType>(elementType()); }
  bool isBool() const { return elementType().isInteger(1); }
  bool isInteger() const { return llvm::isa<mlir::IntegerType>(elementType()) && !isBool(); }
  bool isUnsigned() const { return elementType().isUnsignedInteger(); }

  /// The value in the program, which is created if need be.
  mlir::Value value() const;

  State *impl() const { return state; }

private:
  State *state = nullptr;
};

/// Whether none of them is null.
inline bool areBuilt(llvm::ArrayRef<Tensor> tensors) {
  return llvm::all_of(tensors, [](Tensor tensor) { return bool(tensor); });
}

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_TENSOR_H
