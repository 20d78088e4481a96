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

/// What a model calls things. A program is compiled with tokens in the place of names, so that models which differ in
/// nothing else are one program; what is said about it in the names of the model at hand is made of these at the end.
class ModelNames {
public:
  ModelNames() = default;

  /// Takes all names out of an imported module: of nodes (locations), of sizes, of inputs, outputs, weights and states,
  /// and what asserts that sizes are equal. `n$0$`, `s$0$`, `v$0$` and `t$0$` stand there instead, numbered as they
  /// appear.
  explicit ModelNames(mlir::ModuleOp module);

  /// The text with names for tokens, and sizes as expressions print them.
  std::string expand(llvm::StringRef text) const;
  /// The same for all that a descriptor tells people.
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
  /// Of the table of sizes, as they stand in expressions.
  std::vector<std::string> printedSizes;
};

/// Makes weights of the constants whose elements are data of the model: floats of which not all are the same. Their
/// values are then no part of the program.
void moveConstantsToWeights(mlir::ModuleOp module, WeightStore &weights);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_MODELNAMES_H
