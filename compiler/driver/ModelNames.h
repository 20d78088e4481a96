#ifndef FREESTONE_COMPILER_DRIVER_MODELNAMES_H
#define FREESTONE_COMPILER_DRIVER_MODELNAMES_H

#include "compiler/weights/WeightStore.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/artifact/Descriptor.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <string>
#include <vector>

namespace freestone::driver {

/// The names of a model. Programs are compiled with tokens for names, so that models which differ only in names share
/// their code; messages and descriptors get the model's own names at the end.
class ModelNames {
public:
  ModelNames() = default;

  /// Takes all names out of an imported module: of nodes (locations), of sizes, of inputs, outputs, weights and states,
  /// and in assertions about sizes. Tokens `n$0$`, `s$0$`, `v$0$` and `t$0$` replace them, numbered in order of
  /// appearance.
  explicit ModelNames(mlir::ModuleOp module);

  /// The text with names in place of tokens, and sizes printed as expressions.
  std::string expand(llvm::StringRef text) const;
  /// As above, for all user-visible text of a descriptor.
  void expand(runtime::Descriptor &descriptor) const;

private:
  enum Kind { Node, Size, Value, Text };
  static constexpr llvm::StringLiteral letters = "nsvt";
  struct Table {
    llvm::StringMap<std::string> tokens;
    std::vector<std::string> names;
  };

  std::string tokenFor(Kind kind, llvm::StringRef name);
  mlir::StringAttr tokenFor(Kind kind, mlir::StringAttr name);
  void takeSizes(mlir::ModuleOp module);
  void takeNodes(mlir::ModuleOp module);
  void takeValues(mlir::ModuleOp module);
  mlir::DictionaryAttr renameKeys(mlir::DictionaryAttr dictionary);
  void renameParts(mlir::Operation *function, llvm::StringRef list, Kind kind, size_t part);
  std::string expand(llvm::StringRef text, bool asExpressions) const;

  std::array<Table, 4> tables;
  /// The names of sizes, as expressions print them.
  std::vector<std::string> printedSizes;
};

/// Turns constants that are data of the model (floats that are not all equal) into weights, so that their values are no
/// part of the program.
void moveConstantsToWeights(mlir::ModuleOp module, WeightStore &weights);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_MODELNAMES_H
