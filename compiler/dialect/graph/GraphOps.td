#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHOPS_TD
#define FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHOPS_TD

include "compiler/dialect/graph/Composite.td"
include "compiler/dialect/graph/Contraction.td"
include "compiler/dialect/graph/ControlFlow.td"
include "compiler/dialect/graph/Elementwise.td"
include "compiler/dialect/graph/Indexing.td"
include "compiler/dialect/graph/Ordering.td"
include "compiler/dialect/graph/Reduction.td"
include "compiler/dialect/graph/Shape.td"
include "compiler/dialect/graph/Sources.td"

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_GRAPHOPS_TD
