#ifndef FREESTONE_COMPILER_CODEGEN_CPU_USEDKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_USEDKERNELS_H

#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/codegen/cpu/InPlaceKernels.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/TransformKernels.h"
#include "compiler/plan/ContractionTree.h"
#include "llvm/ADT/MapVector.h"

namespace freestone::codegen {

/// The micro-kernels that programs of a module call, each of which it has once.
class UsedKernels {
public:
  /// Adds those of a program's form. Fails with a diagnostic if two programs want one from different units.
  LogicalResult add(tile::ProgramOp program);
  /// Appends their definitions to the module.
  void emit(mlir::ModuleOp module) const;

private:
  struct Kernel {
    KernelKind kind;
    mlir::Type elementType;
    tile::MicroKernelAttr shape;
  };
  struct DotProducts {
    DotProductKernel kernel;
    bool hasNarrow;
  };
  /// The shape of vectors and panels, by the outputs of a square.
  using Transforms = llvm::MapVector<int64_t, tile::MicroKernelAttr>;

  void add(mlir::Type elementType, tile::MicroKernelAttr shape, KernelKind kind);
  LogicalResult addDotProducts(tile::ProgramOp program, const tile::ContractionTree &tree);

  llvm::MapVector<mlir::StringAttr, Kernel> kernels;
  llvm::SmallVector<DotProducts> dotProducts;
  llvm::SmallVector<InPlaceKernel> inPlace;
  /// Of transformed filters, and of gradients of filters.
  Transforms transforms, gradientTransforms;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_USEDKERNELS_H
