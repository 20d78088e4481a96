#ifndef FREESTONE_COMPILER_EXPRESSIONS_GRAPHBUILDER_H
#define FREESTONE_COMPILER_EXPRESSIONS_GRAPHBUILDER_H

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/expressions/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <deque>

namespace freestone::expressions {

/// The reason for which an operation could not be built.
struct Refusal {
  enum class Kind {
    /// The model is valid, but not supported.
    Unsupported,
    /// The model violates its format or contradicts itself.
    Invalid
  };
  Kind kind;
  std::string reason;
};

/// Constant content as an attribute, for `graph.constant`; a single element is a splat over `dims`.
mlir::DenseElementsAttr denseOf(const Content &content, llvm::ArrayRef<int64_t> dims, mlir::Type type);

/// The builder of expressions: an MLIR insertion point and location, and the expressions' tensors. Operations on
/// tensors are free functions, in Operations.h and Expressions.h.
/// This class adds to an existing graph. Sizes are taken as given: shapes that should be equal must be the same
/// expressions, otherwise the operation does not verify. Every operation is folded; every constant becomes an operation
/// at once. `FunctionBuilder` builds a function from its inputs on, and learns equalities of sizes.
class GraphBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Content above this many elements is not tracked: it is data rather than sizes or small constants.
  static constexpr int64_t maxContent = 1024;

  /// Takes a location and an `OpBuilder`'s arguments: another builder, for its insertion point, or an operation to
  /// insert before.
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  GraphBuilder(const GraphBuilder &) = delete;
  virtual ~GraphBuilder() = default;

  // Tensors.

  virtual Tensor fromValue(mlir::Value value);
  /// `content` holds the elements of `shape`, row-major, which must be constant. Floats must be rounded to `type`.
  virtual Tensor fromContent(Content content, llvm::ArrayRef<Expr> shape, mlir::Type type);
  /// A scalar (rank 0), rounded to the type.
  Tensor scalar(double value, mlir::Type type);
  /// A size as a scalar of the type.
  Tensor scalar(Expr value, mlir::Type type) { return fromContent({Element(value)}, {}, type); }
  /// A scalar i64.
  Tensor integer(Expr value) { return scalar(value, getI64Type()); }
  Tensor integer(int64_t value) { return integer(size(value)); }
  /// A vector of i64.
  Tensor vector(llvm::ArrayRef<Expr> elements);
  Tensor vector(llvm::ArrayRef<int64_t> elements) { return vector(sizes(elements)); }
  /// A tensor with one number in every element.
  Tensor splat(double value, mlir::Type type, llvm::ArrayRef<Expr> shape);
  Tensor splat(double value, graph::TensorType type) { return splat(value, type.getElementType(), type.getShape()); }
  /// Whether small tensors have known elements while building, so that operations on them are folded.
  virtual bool keepsContent() const { return false; }

  // Sizes.

  Expr size(int64_t value) { return Expr::constant(getContext(), value); }
  Shape sizes(llvm::ArrayRef<int64_t> values);
  /// The expression with all learnt replacements applied.
  virtual Expr current(Expr expr) const { return expr; }
  Shape current(llvm::ArrayRef<Expr> exprs) const;
  /// The bounds of the symbols.
  virtual const sym::Bounds &bounds() const;
  /// Makes two sizes equal. If they never are, refuses, naming `what`, and returns false.
  virtual bool makeEqual(Expr lhs, Expr rhs, const llvm::Twine &what) { return true; }
  /// As above, axis by axis; the shapes must have the same rank.
  bool makeEqual(llvm::ArrayRef<Expr> lhs, llvm::ArrayRef<Expr> rhs, const llvm::Twine &what);
  /// Ensures that one size is at most another. If it never is, refuses, naming `what`, and returns false.
  virtual bool makeAtMost(Expr lhs, Expr rhs, const llvm::Twine &what) { return true; }
  /// x with this shape of equal rank, its sizes under their names there. Refuses as `makeEqual` does.
  virtual Tensor conform(Tensor x, llvm::ArrayRef<Expr> shape, const llvm::Twine &what) { return x; }
  /// A new symbol for a data-dependent count, from 0 to `most`, or without a limit; an invalid expression and a refusal
  /// if the builder owns no symbols.
  virtual Expr freshCount(llvm::StringRef stem, Expr most = Expr());

  // Errors.

  /// Refuses the current operation as unsupported. The first reason is kept.
  Tensor refuse(const llvm::Twine &reason) { return stop(Refusal::Kind::Unsupported, reason); }
  /// Refuses the model as invalid.
  Tensor reject(const llvm::Twine &reason) { return stop(Refusal::Kind::Invalid, reason); }
  bool stopped() const { return refusal.has_value(); }
  std::optional<Refusal> takeRefusal() { return std::exchange(refusal, std::nullopt); }

  // Operations.

  /// Verifies an operation; refuses with its diagnostic. By default nothing: the graph is verified later.
  virtual void check(mlir::Operation *op) {}
  /// Creates an operation with inferred types, and checks it. Operands must not be null tensors.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    Op op = Op::create(*this, std::forward<Args>(args)...);
    check(op);
    return op;
  }
  /// The operation's result, or its folded value.
  template <typename Op, typename... Args> Tensor emit(Args &&...args) {
    return fromValue(simplified(create<Op>(std::forward<Args>(args)...)));
  }

protected:
  friend class Tensor;

  virtual mlir::Value materialize(Tensor tensor) { return tensor.impl()->value; }
  virtual mlir::Value simplified(mlir::Operation *op);
  /// Creates the content as a value of a constant shape.
  mlir::Value createContent(const Content &content, llvm::ArrayRef<Expr> shape, mlir::Type type);
  /// Creates a constant too large for `graph.constant`.
  virtual mlir::Value createLargeConstant(const Content &content, graph::TensorType type);
  Tensor add(Tensor::State state);

  /// In the order of creation, at stable addresses.
  std::deque<Tensor::State> tensors;

private:
  Tensor stop(Refusal::Kind kind, const llvm::Twine &reason);

  std::optional<Refusal> refusal;
};

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_GRAPHBUILDER_H
