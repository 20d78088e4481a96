#ifndef FREESTONE_COMPILER_IMPORT_DATASIZES_H
#define FREESTONE_COMPILER_IMPORT_DATASIZES_H

#include "compiler/expressions/FunctionBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace freestone::importer {

using namespace expressions;

/// The sizes that elements of computed tensors tell: symbols that are bound while the model runs, behind what computes
/// the element. Equal elements have one symbol, also where they were moved in between.
class DataSizes {
public:
  explicit DataSizes(FunctionBuilder &builder) : builder(builder) {}

  /// What an element of a tensor of integers holds, by its number in row-major order; a symbol where data decide that.
  /// The run ends with a message, `complaint`, where data give a negative number.
  Expr get(Tensor sizes, int64_t element, llvm::StringRef complaint = {});

private:
  Expr get(mlir::Value sizes, int64_t element, llvm::StringRef complaint);
  Expr bind(mlir::Value sizes, int64_t element, llvm::StringRef complaint);

  FunctionBuilder &builder;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, Expr> bound;
};

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_DATASIZES_H
