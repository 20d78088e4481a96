#ifndef FREESTONE_COMPILER_EXPRESSIONS_GRAPHBUILDER_H
#define FREESTONE_COMPILER_EXPRESSIONS_GRAPHBUILDER_H

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/expressions/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <deque>

namespace freestone::expressions {

/// Why something could not be built.
struct Refusal {
  enum class Kind {
    /// The model is right, we can't compile it.
    Unsupported,
    /// The model contradicts its format or itself.
    Invalid
  };
  Kind kind;
  std::string reason;
};

/// Constant content as an attribute, for `graph.constant`; `dims` may be those of one element that stands for all.
mlir::DenseElementsAttr denseOf(const Content &content, llvm::ArrayRef<int64_t> dims, mlir::Type type);

/// Where expressions are built: an insertion point and a location of MLIR, and the tensors of the expressions. The
/// operations on tensors are free functions, in Operations.h and Expressions.h.
///
/// This one adds to a graph that stands. Its sizes are taken as they are written: shapes that should be equal must be
/// the same expressions, and an operation on others does not verify. Every operation is folded, every constant becomes
/// an operation at once. `FunctionBuilder` makes a function from its inputs on, and learns of its sizes.
class GraphBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Content above this many elements is not tracked: sizes and small constants are below, data are above.
  static constexpr int64_t maxContent = 1024;

  /// Takes a location and what makes an `OpBuilder`: another one, whose insertion point it begins at, or an operation
  /// to build before.
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  GraphBuilder(const GraphBuilder &) = delete;
  virtual ~GraphBuilder() = default;

  // Tensors.

  virtual Tensor fromValue(mlir::Value value);
  /// `content` holds the elements of `shape`, row-major, which must be constant. Floats must be rounded to `type`.
  virtual Tensor fromContent(Content content, llvm::ArrayRef<Expr> shape, mlir::Type type);
  /// Of rank 0, rounded to the type.
  Tensor scalar(double value, mlir::Type type);
  /// A size as a number of the type, of rank 0.
  Tensor scalar(Expr value, mlir::Type type) { return fromContent({Element(value)}, {}, type); }
  /// An i64 of rank 0.
  Tensor integer(Expr value) { return scalar(value, getI64Type()); }
  Tensor integer(int64_t value) { return integer(size(value)); }
  /// A vector of i64.
  Tensor vector(llvm::ArrayRef<Expr> elements);
  Tensor vector(llvm::ArrayRef<int64_t> elements) { return vector(sizes(elements)); }
  /// A tensor with one number in every element.
  Tensor splat(double value, mlir::Type type, llvm::ArrayRef<Expr> shape);
  Tensor splat(double value, graph::TensorType type) { return splat(value, type.getElementType(), type.getShape()); }
  /// Whether the elements of small tensors are known while building, so that what is computed of them leaves no
  /// operation behind.
  virtual bool keepsContent() const { return false; }

  // Sizes.

  Expr size(int64_t value) { return Expr::constant(getContext(), value); }
  Shape sizes(llvm::ArrayRef<int64_t> values);
  /// With everything replaced that was learnt since the expression was made.
  virtual Expr current(Expr expr) const { return expr; }
  Shape current(llvm::ArrayRef<Expr> exprs) const;
  /// What is known of the symbols.
  virtual const sym::Bounds &bounds() const;
  /// Makes two sizes equal. Where they never are, refuses, saying `what`, and returns false.
  virtual bool makeEqual(Expr lhs, Expr rhs, const llvm::Twine &what) { return true; }
  /// The same, axis by axis; the shapes must have one rank.
  bool makeEqual(llvm::ArrayRef<Expr> lhs, llvm::ArrayRef<Expr> rhs, const llvm::Twine &what);
  /// Sees to it that one size is not above another. Where it always is, refuses, saying `what`, and returns false.
  virtual bool makeAtMost(Expr lhs, Expr rhs, const llvm::Twine &what) { return true; }
  /// x with this shape, which has its rank, and a size of it by its name there. Refuses as `makeEqual` does.
  virtual Tensor conform(Tensor x, llvm::ArrayRef<Expr> shape, const llvm::Twine &what) { return x; }
  /// A new symbol for a number that is found while running, from 0 to `most`; an invalid expression and a refusal where
  /// the builder owns no symbols.
  virtual Expr freshCount(llvm::StringRef stem, Expr most);

  // Errors.

  /// Says why what is at hand can't be compiled. The first reason stays.
  Tensor refuse(const llvm::Twine &reason) { return stop(Refusal::Kind::Unsupported, reason); }
  /// Says in what the model is wrong.
  Tensor reject(const llvm::Twine &reason) { return stop(Refusal::Kind::Invalid, reason); }
  bool stopped() const { return refusal.has_value(); }
  std::optional<Refusal> takeRefusal() { return std::exchange(refusal, std::nullopt); }

  // Operations.

  /// Sees to it that an operation is right; refuses with its complaint. Here nothing is done before the graph is
  /// verified.
  virtual void check(mlir::Operation *op) {}
  /// Creates an operation that deduces its types, and checks it. Null tensors among the operands must have been
  /// excluded.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    Op op = Op::create(*this, std::forward<Args>(args)...);
    check(op);
    return op;
  }
  /// The result of an operation, or what that folds to.
  template <typename Op, typename... Args> Tensor emit(Args &&...args) {
    return fromValue(simplified(create<Op>(std::forward<Args>(args)...)));
  }

protected:
  friend class Tensor;

  virtual mlir::Value materialize(Tensor tensor) { return tensor.impl()->value; }
  virtual mlir::Value simplified(mlir::Operation *op);
  /// Creates the elements of a constant shape.
  mlir::Value createContent(const Content &content, llvm::ArrayRef<Expr> shape, mlir::Type type);
  /// Creates constant elements that are too many for `graph.constant`.
  virtual mlir::Value createLargeConstant(const Content &content, graph::TensorType type);
  Tensor add(Tensor::State state);

  /// In the order in which they were made, at addresses that stay.
  std::deque<Tensor::State> tensors;

private:
  Tensor stop(Refusal::Kind kind, const llvm::Twine &reason);

  std::optional<Refusal> refusal;
};

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_GRAPHBUILDER_H
