#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_FOREST_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_FOREST_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// A comparison of a feature with a node's number.
enum class NodeMode { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual };

/// Decision trees as one list of nodes. A leaf is its own successor.
struct Forest {
  struct Branch {
    NodeMode mode = NodeMode::LessOrEqual;
    int64_t feature = 0;
    double number = 0;
    /// The next nodes where the comparison holds, and where it does not. NaN goes where `nanHolds` says.
    int64_t whenTrue = 0, whenFalse = 0;
    bool nanHolds = false;
  };
  struct Weight {
    int64_t node, target;
    double value;
  };

  std::vector<Branch> nodes;
  std::vector<int64_t> roots;
  std::vector<Weight> weights;

  /// Of every tree for every row of x [rows, features]: [rows, trees, targets], in the type `wide`. Rejects trees with
  /// nodes that do not exist, or that have cycles.
  Tensor evaluate(Node &node, Tensor x, int64_t targets, mlir::Type wide) const;
};

/// A small or large constant vector or matrix of numbers.
Tensor constantTable(ModelBuilder &builder, llvm::ArrayRef<double> numbers, llvm::ArrayRef<int64_t> dims,
                     mlir::Type type);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_FOREST_H
