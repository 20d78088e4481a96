#ifndef FREESTONE_COMPILER_EXPRESSIONS_FUNCTIONBUILDER_H
#define FREESTONE_COMPILER_EXPRESSIONS_FUNCTIONBUILDER_H

#include "compiler/expressions/GraphBuilder.h"
#include "compiler/expressions/SizeFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::expressions {

/// Builds one function from its inputs on, as a front end does. It owns what is known of the function's sizes: an
/// equality that an operation needs is proved, learnt (one symbol is replaced by the other in all that was built), or
/// checked when the program is entered. Small tensors are known by content. Every operation is verified, and its
/// complaint is a refusal; none is folded, so that the function is what the model says.
///
/// A front end derives from it, and says where constants are kept that are too large for the program.
class FunctionBuilder : public GraphBuilder {
public:
  explicit FunctionBuilder(mlir::func::FuncOp function);

  mlir::func::FuncOp function() { return func; }

  Tensor fromValue(mlir::Value value) override;
  Tensor fromContent(Content content, llvm::ArrayRef<Expr> shape, mlir::Type type) override;
  /// A weight of the program: `graph.weight`, made on demand; content where it is small.
  Tensor fromWeight(llvm::StringRef name, llvm::ArrayRef<int64_t> dims, mlir::Type type,
                    std::optional<Content> content);
  bool keepsContent() const override { return true; }

  SizeFacts &sizeFacts() { return facts; }
  Expr current(Expr expr) const override;
  using GraphBuilder::current;
  const sym::Bounds &bounds() const override { return facts.bounds(); }
  /// By proof, by learning, or by a check at entry.
  bool makeEqual(Expr lhs, Expr rhs, const llvm::Twine &what) override;
  using GraphBuilder::makeEqual;
  /// By proof, or by a check at entry. Nothing is required of what may never run, nor of what data decide.
  bool makeAtMost(Expr lhs, Expr rhs, const llvm::Twine &what) override;
  /// Sizes that only a check at entry makes equal are renamed.
  Tensor conform(Tensor x, llvm::ArrayRef<Expr> shape, const llvm::Twine &what) override;
  Expr freshCount(llvm::StringRef stem, Expr most) override;
  /// A symbol of its own for an expression, unless it is a constant or a symbol: what is made of it stays small. Its
  /// value must be within `range`.
  Expr define(llvm::StringRef stem, Expr expr, sym::Interval range);
  Expr define(llvm::StringRef stem, Expr expr) { return define(stem, expr, facts.interval(expr)); }
  /// The same for a size, which is checked not to be negative when the program is entered.
  Expr defineSize(llvm::StringRef stem, Expr expr);

  /// While it lives, what is built may never run: no equality is learnt from it.
  class RegionScope {
  public:
    explicit RegionScope(FunctionBuilder &builder) : builder(builder) { ++builder.regions; }
    ~RegionScope() { --builder.regions; }

  private:
    FunctionBuilder &builder;
  };

  void check(mlir::Operation *op) override;

protected:
  mlir::Value materialize(Tensor tensor) override;
  mlir::Value simplified(mlir::Operation *op) override;

private:
  /// The shape with extents named that are too large, each or all together, to be multiplied.
  Shape withNames(llvm::ArrayRef<Expr> shape);
  std::string describe(const llvm::Twine &what) const;
  void substitute(llvm::StringRef symbol, Expr replacement, const llvm::Twine &text);

  mlir::func::FuncOp func;
  SizeFacts facts;
  llvm::StringMap<Expr> replaced;
  unsigned regions = 0;
};

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_FUNCTIONBUILDER_H
