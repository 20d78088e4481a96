#ifndef FREESTONE_COMPILER_INTERPRETER_SCALARBODY_H
#define FREESTONE_COMPILER_INTERPRETER_SCALARBODY_H

#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/interpreter/Evaluate.h"
#include <functional>

namespace freestone::interpreter {

/// A scalar of a body, untagged: floats are doubles, integers sign-extended (bool 0 or 1).
union Scalar {
  double real;
  int64_t integer;
};

/// Conversion between tensor elements and scalars of a body: bodies have no unsigned types.
Scalar getElement(const Tensor &tensor, int64_t position);
void setElement(Tensor &tensor, int64_t position, Scalar value);

/// The body of a `tile.compute`, translated once and run at many points.
class ScalarBody {
public:
  /// Fails with a diagnostic at an operation that bodies can't contain. `reads` are the tensors read at data-dependent
  /// indices.
  static mlir::FailureOr<ScalarBody> create(tile::ComputeOp compute, llvm::ArrayRef<Tensor> reads,
                                            const Symbols &symbols);

  /// Runs at a point of the loops; `arguments` are the inputs, then the accumulators. The result is valid until the
  /// next call.
  mlir::FailureOr<llvm::ArrayRef<Scalar>> run(llvm::ArrayRef<int64_t> point, llvm::ArrayRef<Scalar> arguments);

private:
  /// The state of one run: a slot for every value, and the point.
  struct Frame {
    std::vector<Scalar> values;
    llvm::ArrayRef<int64_t> point;
  };
  /// Returns false after a diagnostic.
  using Step = std::function<bool(Frame &)>;

  unsigned placeOf(mlir::Value value) { return places.try_emplace(value, places.size()).first->second; }
  mlir::FailureOr<Step> prepare(mlir::Operation &op, llvm::ArrayRef<Tensor> reads, const Symbols &symbols);
  Step prepareReal(mlir::Operation &op);
  Step prepareInteger(mlir::Operation &op);
  Step prepareCast(mlir::Operation &op);
  template <typename Function> Step unary(mlir::Operation &op, Function function);
  template <typename Function> Step binary(mlir::Operation &op, Function function);

  llvm::DenseMap<mlir::Value, unsigned> places;
  std::vector<Step> steps;
  Frame frame;
  llvm::SmallVector<unsigned> yielded;
  llvm::SmallVector<Scalar> results;
};

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_SCALARBODY_H
