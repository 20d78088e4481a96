#ifndef FREESTONE_COMPILER_EXPRESSIONS_TENSOR_H
#define FREESTONE_COMPILER_EXPRESSIONS_TENSOR_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/expressions/Element.h"

namespace freestone::expressions {

using sym::Expr;
using Shape = llvm::SmallVector<Expr, 4>;

inline bool areConstant(llvm::ArrayRef<Expr> values) {
  return llvm::all_of(values, [](Expr value) { return value.isConstant(); });
}

class GraphBuilder;

/// A tensor of the graph under construction: a handle on state that the builder owns. Its shape and type are always
/// known. A small tensor may have known content; it then becomes an operation only when its `value()` is requested.
///
/// A null tensor stands for a refused one; every operation on it gives another null tensor, so that operator
/// definitions need no error handling. The builder keeps the reason.
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
  /// A value of the graph, which must be a tensor.
  Tensor(GraphBuilder &builder, mlir::Value value);
  explicit operator bool() const { return state; }
  bool operator==(const Tensor &) const = default;

  GraphBuilder &builder() const { return *state->builder; }
  mlir::Type elementType() const { return state->elementType; }
  llvm::ArrayRef<Expr> shape() const { return state->shape; }
  graph::TensorType type() const { return graph::TensorType::get(shape(), elementType()); }
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

  /// The value in the program, created on demand.
  mlir::Value value() const;

  State *impl() const { return state; }

private:
  State *state = nullptr;
};

/// Whether no tensor is null: a null tensor is the result of an operation that failed.
inline bool areBuilt(llvm::ArrayRef<Tensor> tensors) {
  return llvm::all_of(tensors, [](Tensor tensor) { return bool(tensor); });
}

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_TENSOR_H
