// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions)' --split-input-file --verify-diagnostics

func.func @collected(%x: !graph.tensor<[n], f32>, %limit: !graph.tensor<[], i64>) -> !graph.tensor<[m, n], f32> {
  // expected-error @+1 {{collects values without a limit, and needs a symbol for the number of the iteration}}
  %r:2 = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[n], f32>):
    %yes = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    graph.yield %yes, %state, %state : !graph.tensor<[], i1>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
  } -> !graph.tensor<[n], f32>, !graph.tensor<[m, n], f32>
  return %r#1 : !graph.tensor<[m, n], f32>
}
