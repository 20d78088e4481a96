#ifndef FREESTONE_COMPILER_EXPRESSIONS_FUNCTIONBUILDER_H
#define FREESTONE_COMPILER_EXPRESSIONS_FUNCTIONBUILDER_H

#include "compiler/expressions/GraphBuilder.h"
#include "compiler/expressions/SizeFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::expressions {

/// Builds one function from its inputs on, for a front end. It owns the facts about the function's sizes: an equality
/// that an operation needs is proved, learnt (one symbol replaces the other in the whole function), or checked at the
/// program's entry, or where data give the last of its symbols; within regions, which may not run, where it is needed.
/// Small tensors are known by content. Every operation is verified, and refused with its diagnostic; none is folded, so
/// that the function mirrors the model.
///
/// A front end derives from it and stores the constants too large for the program.
class FunctionBuilder : public GraphBuilder {
public:
  explicit FunctionBuilder(mlir::func::FuncOp function);

  mlir::func::FuncOp function() { return func; }

  Tensor fromValue(mlir::Value value) override;
  Tensor fromContent(Content content, llvm::ArrayRef<Expr> shape, mlir::Type type) override;
  /// A weight of the program: `graph.weight`, created on demand; content if small.
  Tensor fromWeight(llvm::StringRef name, llvm::ArrayRef<int64_t> dims, mlir::Type type,
                    std::optional<Content> content);
  bool keepsContent() const override { return true; }

  SizeFacts &sizeFacts() { return facts; }
  Expr current(Expr expr) const override;
  using GraphBuilder::current;
  const sym::Bounds &bounds() const override { return facts.bounds(); }
  /// By proof, by learning, or by a check: at entry, where the last of the sizes is known, or at this place of a
  /// region.
  bool makeEqual(Expr lhs, Expr rhs, const llvm::Twine &what) override;
  using GraphBuilder::makeEqual;
  /// By proof, or by such a check; in regions only of what data decide.
  bool makeAtMost(Expr lhs, Expr rhs, const llvm::Twine &what) override;
  /// Goes on as if two sizes were equal, and checks that at entry; false where entry can't tell, in regions that may
  /// not run and for data-dependent sizes. `what` names the first one.
  bool requireAtEntry(Expr lhs, Expr rhs, const llvm::Twine &what);
  /// Takes a condition, which is 0 or 1, to be what it is for great sizes, as above; nothing where entry can't tell.
  std::optional<bool> assumeAtEntry(Expr condition, const llvm::Twine &what);
  /// Renames sizes whose equality is only checked at entry.
  Tensor conform(Tensor x, llvm::ArrayRef<Expr> shape, const llvm::Twine &what) override;
  Expr freshCount(llvm::StringRef stem, Expr most = Expr()) override;
  /// A symbol for an expression, unless it is a constant or a symbol: keeps later expressions small. Its value must be
  /// within `range`.
  Expr define(llvm::StringRef stem, Expr expr, sym::Interval range);
  Expr define(llvm::StringRef stem, Expr expr) { return define(stem, expr, facts.interval(expr)); }
  /// As `define`, for a size: checked not to be negative, in regions only where data decide it.
  Expr defineSize(llvm::StringRef stem, Expr expr);
  /// Sets the attributes of the function that tell of its sizes: bounds, elements of inputs, definitions, assertions.
  void recordSizes();

  /// While it lives, operations may never run: no equality is learnt from them, and what they require is checked there.
  class RegionScope {
  public:
    explicit RegionScope(FunctionBuilder &builder) : builder(builder) { builder.regions.emplace_back(); }
    ~RegionScope() { builder.regions.pop_back(); }

  private:
    FunctionBuilder &builder;
  };

  void check(mlir::Operation *op) override;

protected:
  mlir::Value materialize(Tensor tensor) override;
  mlir::Value simplified(mlir::Operation *op) override;

private:
  /// The shape, with a symbol for extents whose expressions are too large to be multiplied, each or together.
  Shape withNames(llvm::ArrayRef<Expr> shape);
  std::string describe(const llvm::Twine &what) const;
  void requireSize(Expr expr, const llvm::Twine &what);
  void assertInRegion(Expr actual, Expr expected, const llvm::Twine &text);
  void substitute(llvm::StringRef symbol, Expr replacement, const llvm::Twine &text);

  mlir::func::FuncOp func;
  SizeFacts facts;
  llvm::StringMap<Expr> replaced;
  /// Of each region around: the pairs of sizes that it asserts to be equal.
  llvm::SmallVector<llvm::DenseSet<std::pair<Expr, Expr>>> regions;
};

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_FUNCTIONBUILDER_H
