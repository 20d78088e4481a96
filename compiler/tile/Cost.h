#ifndef FREESTONE_COMPILER_TILE_COST_H
#define FREESTONE_COMPILER_TILE_COST_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::tile {

/// The cost of one evaluation of a body, in additions: functions of `math` and divisions count more, constants and
/// positions nothing.
int64_t getBodyCost(ComputeOp op);
/// That of one of its operations.
int64_t getOperationCost(mlir::Operation &op);

/// The cost of the longest chain of dependent operations through the bodies of computes over the same points, in the
/// same unit. Reductions are ends of chains.
int64_t getChainCost(llvm::ArrayRef<ComputeOp> computes);

/// Largest cost of a body that is recomputed rather than stored: about that of a load.
inline constexpr int64_t cheapBody = 8;

/// Largest cost of a body that is recomputed rather than stored to memory beyond any cache and read again.
inline constexpr int64_t costOfStoring = 32;

/// The number of points of an iteration space.
sym::Expr getNumPoints(llvm::ArrayRef<sym::Expr> extents, mlir::MLIRContext *context);

/// Whether elements that are only stored (`graph::isStorageOnly`) become numbers: codes are decoded, integers widened.
bool widensStored(ComputeOp op);

/// Whether the results depend on weights and constants alone, and on no run-time size, so that they are equal in every
/// run; not where this widens stored elements.
bool isWeightOnly(ComputeOp op);
bool isWeightOnly(mlir::Value tensor);

/// Typical values of run-time sizes, for comparing bytes: the function's hint for a symbol, else a typical size within
/// its bounds.
class TypicalSizes {
public:
  /// Without any knowledge of sizes.
  TypicalSizes() = default;
  /// For the function that `op` is or is within.
  explicit TypicalSizes(mlir::Operation *op);

  /// Sets the values of some symbols.
  void assume(const llvm::StringMap<int64_t> &values) {
    for (const auto &value : values)
      sizes[value.first()] = value.second;
  }

  /// Nothing where the number leaves 64 bits. Symbols of which nothing is known count as `unknown`.
  std::optional<int64_t> evaluate(sym::Expr size, int64_t unknown = typicalSize) const;
  std::optional<int64_t> evaluate(sym::Expr size, llvm::function_ref<int64_t(llvm::StringRef symbol)> unknown) const;
  /// The bytes of a tensor, its layout's padding included.
  int64_t getBytes(graph::TensorType type) const;

private:
  static constexpr int64_t typicalSize = 128;

  llvm::StringMap<int64_t> sizes;
};

/// How often a run of its entry calls a function, at typical sizes: once, or in each iteration of the loops whose body
/// it is. Where data end a loop, an iteration counts once.
int64_t countTypicalCalls(mlir::func::FuncOp function);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_COST_H
