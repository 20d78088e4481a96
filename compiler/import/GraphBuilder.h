#ifndef FREESTONE_COMPILER_IMPORT_GRAPHBUILDER_H
#define FREESTONE_COMPILER_IMPORT_GRAPHBUILDER_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/import/ImportOnnx.h"
#include "compiler/import/SizeFacts.h"
#include "compiler/import/Tensor.h"
#include "compiler/import/TensorData.h"
#include "compiler/weights/WeightStore.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace freestone::importer {

/// Why an operator could not be built.
struct Refusal {
  enum class Kind {
    /// The model is valid, but the compiler can't compile it.
    Unsupported,
    /// The model contradicts ONNX or itself.
    Invalid
  };
  Kind kind;
  std::string reason;
};

/// Constant content as an attribute, for `graph.constant`.
mlir::DenseElementsAttr denseOf(const Content &content, llvm::ArrayRef<int64_t> dims, mlir::Type type);

/// Builds one function of the graph dialect: owns the tensors, the known facts of sizes, and the reason of a refusal.
/// The operations on tensors are free functions, in Operations.h.
class GraphBuilder {
public:
  /// Larger contents are not tracked: sizes and small constants are below, data above.
  static constexpr int64_t maxContent = 1024;
  /// Largest `graph.constant`; larger constants become weights.
  static constexpr int64_t maxConstant = 64;

  GraphBuilder(mlir::func::FuncOp function, WeightStore &weights);
  GraphBuilder(const GraphBuilder &) = delete;

  mlir::MLIRContext *context() { return ir.getContext(); }
  mlir::func::FuncOp function() { return func; }
  mlir::Type f32() { return ir.getF32Type(); }
  mlir::Type i64() { return ir.getI64Type(); }
  mlir::Type i1() { return ir.getI1Type(); }

  Tensor fromValue(mlir::Value value);
  /// `content` holds the elements of `shape`, which must be constant.
  Tensor fromContent(Content content, llvm::ArrayRef<Expr> shape, mlir::Type type);
  /// A tensor of the store: `graph.weight`, created on demand; with content if it is small.
  Tensor fromWeight(llvm::StringRef name, llvm::ArrayRef<int64_t> dims, mlir::Type type,
                    std::optional<Content> content);
  /// A constant of the model: content if it is small, else a weight with a copy of the data.
  Tensor fromData(const TensorData &data);
  Tensor scalar(double value, mlir::Type type);
  Tensor integer(int64_t value) { return fromContent({Element(size(value))}, {}, i64()); }
  /// A vector of i64.
  Tensor vector(llvm::ArrayRef<Expr> elements);
  Tensor vector(llvm::ArrayRef<int64_t> elements);
  /// A splat of this type and shape.
  Tensor splat(double value, mlir::Type type, llvm::ArrayRef<Expr> shape);

  /// A new symbol for a data-dependent number, from 0 to `most`.
  Expr freshCount(llvm::StringRef stem, Expr most);
  /// A symbol defined as an expression, so that later expressions stay small; constants and symbols are returned
  /// unchanged. The value must be within `range`.
  Expr define(llvm::StringRef stem, Expr expr, sym::Interval range);
  Expr define(llvm::StringRef stem, Expr expr) { return define(stem, expr, facts.interval(expr)); }
  /// As define, for a size, which is checked to be non-negative at the program's entry.
  Expr defineSize(llvm::StringRef stem, Expr expr);
  Expr size(int64_t value) { return facts.constant(value); }
  Shape sizes(llvm::ArrayRef<int64_t> values);
  /// The expression with all equalities applied that were learnt since it was made.
  Expr current(Expr expr) const;
  Shape current(llvm::ArrayRef<Expr> exprs) const;
  SizeFacts &sizeFacts() { return facts; }
  /// Makes two sizes equal: by proof, by substitution, or by a check at entry. Refuses, with `what`, if they never are.
  bool makeEqual(Expr lhs, Expr rhs, const llvm::Twine &what);
  /// The same, axis by axis; the shapes must have one rank.
  bool makeEqual(llvm::ArrayRef<Expr> lhs, llvm::ArrayRef<Expr> rhs, const llvm::Twine &what);

  /// Requires that one size does not exceed another: by proof, or by a check at entry; refuses, with `what`, if it
  /// always does. Requires nothing of operations that may never run, nor of data-dependent sizes.
  bool makeAtMost(Expr lhs, Expr rhs, const llvm::Twine &what);

  /// Refuses the current operator, with the reason. The first reason is kept.
  Tensor refuse(const llvm::Twine &reason) { return stop(Refusal::Kind::Unsupported, reason); }
  /// Rejects the model as invalid, with the reason.
  Tensor reject(const llvm::Twine &reason) { return stop(Refusal::Kind::Invalid, reason); }
  bool stopped() const { return refusal.has_value(); }
  std::optional<Refusal> takeRefusal() { return std::exchange(refusal, std::nullopt); }

  mlir::Value materialize(Tensor tensor);
  /// Creates an operation that deduces its types; refuses with its diagnostic if it does not verify. No tensor operand
  /// may be null.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    Op op = Op::create(ir, location, std::forward<Args>(args)...);
    verify(op);
    return op;
  }
  template <typename Op, typename... Args> Tensor emit(Args &&...args) {
    return fromValue(create<Op>(std::forward<Args>(args)...)->getResult(0));
  }

  /// During its lifetime, operations may never run: no equality is learnt from them.
  class RegionScope {
  public:
    explicit RegionScope(GraphBuilder &builder) : builder(builder) { ++builder.regions; }
    ~RegionScope() { --builder.regions; }

  private:
    GraphBuilder &builder;
  };
  void verify(mlir::Operation *op);

  /// A key of random numbers for one operator, different for each operator and each training step: [4] x ui32.
  Tensor randomKey();
  /// As randomKey, but equal in all runs: a function of the seed and the number of the node's draw; without a seed
  /// unique to the operator.
  Tensor fixedRandomKey(std::optional<uint64_t> seed, uint64_t draw);

  mlir::OpBuilder ir;
  mlir::Location location;
  WeightStore &weights;
  /// How operators are built that depend on whether the model is trained.
  ImportOptions options;
  /// Weights that hold statistics, and, in training form, their new values.
  llvm::MapVector<llvm::StringRef, Tensor> statistics;
  /// Weights that losses of the model weigh classes by.
  llvm::SetVector<llvm::StringRef> classWeights;

private:
  Tensor stop(Refusal::Kind kind, const llvm::Twine &reason);
  /// The shape with symbols for extents that are too large, each or all together, to be multiplied.
  Shape withNames(llvm::ArrayRef<Expr> shape);
  std::string describe(const llvm::Twine &what) const;
  void substitute(llvm::StringRef symbol, Expr replacement, const llvm::Twine &text);
  mlir::Value materializeContent(Tensor tensor);
  graph::TensorType typeOf(const Tensor::State &state);
  /// Adds a constant to the store under a new name.
  std::string addConstant(mlir::Type type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes);

  mlir::func::FuncOp func;
  SizeFacts facts;
  std::deque<Tensor::State> tensors;
  llvm::StringMap<Expr> replaced;
  unsigned constants = 0, randomOperators = 0;
  Tensor stepKey;
  unsigned regions = 0;
  std::optional<Refusal> refusal;
};

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_GRAPHBUILDER_H
