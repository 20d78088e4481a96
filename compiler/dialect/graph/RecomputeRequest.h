#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_RECOMPUTEREQUEST_H
#define FREESTONE_COMPILER_DIALECT_GRAPH_RECOMPUTEREQUEST_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace freestone::graph {

/// A function's request to recompute values in the backward pass (see grad/Rematerialise.h).
inline constexpr llvm::StringLiteral recomputeRequest = "graph.recompute";

/// Whether a request asks for the products of loops as well: any policy but `auto`, which leaves loops alone.
inline bool recomputesLoops(mlir::Operation *function) {
  auto request = function->getAttrOfType<mlir::DictionaryAttr>(recomputeRequest);
  auto policy = request ? request.getAs<mlir::StringAttr>("policy") : mlir::StringAttr();
  return request && !(policy && policy.getValue() == "auto");
}

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_RECOMPUTEREQUEST_H
