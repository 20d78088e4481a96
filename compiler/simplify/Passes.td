#ifndef FREESTONE_COMPILER_SIMPLIFY_PASSES_TD
#define FREESTONE_COMPILER_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def Decompose : Pass<"graph-decompose", "::mlir::func::FuncOp"> {
  let summary = "makes core operators of composites";
  let description = [{
    In: any operators of the graph. Out: no softmax, norm, gelu or attention, but what they are made of.
    ```mlir
    %y = graph.gelu exact %x : !graph.tensor<[n], f32>
    // →
    %e = graph.unary erf %s : …
    ```
  }];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

#endif // FREESTONE_COMPILER_SIMPLIFY_PASSES_TD
