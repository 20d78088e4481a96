#ifndef FREESTONE_COMPILER_GRAD_PASSES_TD
#define FREESTONE_COMPILER_GRAD_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"graph-differentiate", "::mlir::func::FuncOp"> {
  let summary = "appends the gradients of a function's first result as further results";
  let description = [{
    In: a graph whose first result is a float of rank 0. Out: the same with one more result for each name in `wrt`: the
    gradient with respect to the argument of that `graph.name` or number, or to the weight of that name.
    ```mlir
    func.func @main(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[], f32> {
      %y = graph.unary exp %x : !graph.tensor<[n], f32>
      %s = graph.reduce add %y axes [0] : !graph.tensor<[n], f32>
      return %s : !graph.tensor<[], f32>
    }
    ```
    becomes, with `wrt=0`,
    ```mlir
    func.func @main(%x: !graph.tensor<[n], f32>) -> (!graph.tensor<[], f32>, !graph.tensor<[n], f32>) {
      %y = graph.unary exp %x : !graph.tensor<[n], f32>
      %s = graph.reduce add %y axes [0] : !graph.tensor<[n], f32>
      %one = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[n], f32>
      %g = graph.binary mul %one, %y : !graph.tensor<[n], f32>
      return %s, %g : !graph.tensor<[], f32>, !graph.tensor<[n], f32>
    }
    ```
  }];
  let options = [ListOption<"wrt", "wrt", "std::string", "Arguments by name or number, weights by name">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

#endif // FREESTONE_COMPILER_GRAD_PASSES_TD
