#include "compiler/import/RandomReach.h"
#include "compiler/dialect/graph/GraphDialect.h"

#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace freestone::importer {

/// Operations that depend on what `source` makes. One with regions depends on all that they hold.
static SetVector<mlir::Operation *> dependents(mlir::Operation *source) {
  SetVector<mlir::Operation *> reached;
  reached.insert(source);
  for (size_t i = 0; i < reached.size(); ++i) {
    mlir::Operation *operation = reached[i];
    for (mlir::Operation *user : operation->getUsers())
      reached.insert(user);
    if (mlir::Operation *parent = operation->getParentOp(); !isa<mlir::func::FuncOp>(parent))
      reached.insert(parent);
  }
  return reached;
}

void findReach(mlir::func::FuncOp main, ArrayRef<std::string> outputs, std::vector<RandomNode> &nodes) {
  if (nodes.empty())
    return;
  mlir::Operation *end = main.getBody().front().getTerminator();
  main.walk([&](graph::RandomBitsOp bits) {
    auto place = dyn_cast<mlir::NameLoc>(bits.getLoc());
    SetVector<mlir::Operation *> reached = dependents(bits);
    for (auto [output, value] : zip(outputs, end->getOperands())) {
      if (!reached.contains(value.getDefiningOp()))
        continue;
      for (RandomNode &node : nodes)
        if (place && place.getName() == node.node && !is_contained(node.outputs, output))
          node.outputs.push_back(output);
    }
  });
}

} // namespace freestone::importer
