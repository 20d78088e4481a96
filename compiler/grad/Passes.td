#ifndef FREESTONE_COMPILER_GRAD_PASSES_TD
#define FREESTONE_COMPILER_GRAD_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"graph-differentiate", "::mlir::func::FuncOp"> {
  let summary = "appends the gradients of a function's first result as further results";
  let description = [{
    In: a graph whose first result is a float of rank 0. Out: the same with one more result for each name in `wrt`: the
    gradient with respect to the argument of that `graph.name` or number, or to the weight of that name. With
    `grad.recomputes` on the function, loops keep no products of their iterations.
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

def MixedPrecision : Pass<"graph-mixed-precision", "::mlir::func::FuncOp"> {
  let summary = "products of f32 in bf16 or f16, by a table of operators";
  let description = [{
    In: a graph of f32. Out: the same with its contractions and convolutions, and what lies between them, in `type`;
    weights, arguments and results keep theirs.
    ```mlir
    %w = graph.weight "w" : !graph.tensor<[8, n], f32>
    %y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 8], f32>, !graph.tensor<[8, n], f32>
    %e = graph.unary exp %y : !graph.tensor<[b, n], f32>
    ```
    becomes
    ```mlir
    %w = graph.weight "w" : !graph.tensor<[8, n], f32>
    %a = graph.cast %w to bf16 : !graph.tensor<[8, n], f32>
    %b = graph.cast %x to bf16 : !graph.tensor<[b, 8], f32>
    %y = graph.contract %b, %a batch [] x [] contract [1] x [0] : !graph.tensor<[b, 8], bf16>, !graph.tensor<[8, n], bf16>
    %c = graph.cast %y to f32 : !graph.tensor<[b, n], bf16>
    %e = graph.unary exp %c : !graph.tensor<[b, n], f32>
    ```
  }];
  let options = [Option<"type", "type", "std::string", "\"bf16\"", "bf16 or f16">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def KeepScanValues : Pass<"graph-keep-scan-values", "::mlir::func::FuncOp"> {
  let summary = "gradients of scans find in memory what of their steps is cheaper to keep than to compute again";
  let description = [{
    In: any graph without composites. Out: the same, where a scan that goes along what another one collected, in the
    opposite order, goes along those values of its steps from which it needs least: a minimum cut of what the bytes of
    values and what computing them again take. Scans collect nothing twice or without a use. A sum over all steps of
    what a scan collects is the scan's state where steps add up the same, as for gradients of two biases of a layer.
    `graph.kept_values` counts such sums, and values that are collected for this: none with `graph.recompute`.
    ```mlir
    %last, %all = graph.scan carry %h over %x {
    ^bb0(%state: …, %slice: …):
      %0 = graph.binary add %state, %slice
      %1 = graph.unary tanh %0
      graph.yield %1, %0
    }
    %turned = graph.slice %all starts [t - 1, 0] sizes [t, 8] steps [-1, 1]
    %g = graph.scan carry %d over %turned {
    ^bb0(%gradient: …, %sum: …):
      %2 = graph.unary tanh %sum
      …
    }
    ```
    becomes a scan that collects `%1`, and one that goes along it and computes no tanh.
  }];
  let options = [Option<"enable", "enable", "bool", "true", "Do it">];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

def Rematerialise : Pass<"graph-rematerialise", "::mlir::func::FuncOp"> {
  let summary = "the backward pass computes again what is cheap, instead of finding it in memory";
  let description = [{
    In: a function with `graph.recompute = {policy = "blocks", losses = array<i64: 0>, hints = {b = 64}}`: which results
    end the forward pass, and how large symbols usually are. Out: the same, where the backward pass computes values of
    the forward pass from those that are cheapest to keep; `graph.recomputed` tells how many operators stand there once
    more and how many bytes are kept. Other functions stay.
    ```mlir
    %c = graph.contract %x, %w …
    %h = graph.unary tanh %c
    %loss = graph.reduce add %h axes [0, 1]
    …
    %d = graph.binary mul %g, %h
    ```
    becomes, as `%c` is kept anyway,
    ```mlir
    %kept = graph.barrier %c
    %again = graph.unary tanh %kept
    %d = graph.binary mul %g, %again
    ```
  }];
  let dependentDialects = ["::freestone::graph::GraphDialect"];
}

#endif // FREESTONE_COMPILER_GRAD_PASSES_TD
