#ifndef FREESTONE_COMPILER_TILE_CONNECTEDFORM_H
#define FREESTONE_COMPILER_TILE_CONNECTEDFORM_H

#include "compiler/plan/Axes.h"
#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The parts of a connection: contractions that make intermediates over the same rows and columns, computes of these,
/// and contractions that sum them along their columns or along their rows. All share outer axes. An attention has one
/// product, of queries and keys, and one sum, with values; its backward pass has two products and three sums.
struct ConnectedForm {
  /// A contraction that sums intermediates along the axis `reduced`, its factor that is none of them, the axis `column`
  /// of its results that intermediates have not, and what is computed of the results.
  struct Sum {
    ContractionForm form;
    mlir::Value intermediate, factor;
    unsigned reduced, column;
    llvm::SmallVector<ComputeOp> epilogue;
  };

  /// Nothing if the computes are no connection.
  static std::optional<ConnectedForm> get(llvm::ArrayRef<ComputeOp> computes, const Axes &axes);

  /// The axes of intermediates. Some sum is along columns.
  unsigned row, column;
  llvm::SmallVector<unsigned> outer;
  llvm::SmallVector<ContractionForm, 2> products;
  llvm::SmallVector<Sum, 3> sums;
  /// Computes of intermediates, reductions along their columns among them; of each row, from none of them and from
  /// some.
  llvm::SmallVector<ComputeOp> inside, before, behind;

private:
  bool addProduct(const ContractionForm &form, const Axes &axes);
  bool addSum(const ContractionForm &form, const Axes &axes, llvm::ArrayRef<ComputeOp> computes);
  bool addRest(llvm::ArrayRef<ComputeOp> computes, const Axes &axes);
  bool isOuter(const ContractionForm &form, const Axes &axes) const;
};

/// A contraction of matrices of f32 whose factors are its operands, unpacked.
std::optional<ContractionForm> getConnectible(ComputeOp compute);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONNECTEDFORM_H
