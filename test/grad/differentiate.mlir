// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-differentiate{wrt=x,w}))' -split-input-file -verify-diagnostics | FileCheck %s

// A linear layer: both gradients are contractions, without transposes; the activation's gradient needs only its result.
// CHECK-LABEL: func.func @linear
// CHECK-SAME: (%[[x:.*]]: !graph.tensor<[b, k], f32> {{.*}}, %[[bias:.*]]: !graph.tensor<[n], f32>) ->
// CHECK-SAME: (!graph.tensor<[], f32>, !graph.tensor<[b, k], f32>, !graph.tensor<[k, n], f32>)
// CHECK: %[[y:.*]] = graph.unary tanh
// CHECK: %[[loss:.*]] = graph.reduce add
// CHECK-NOT: graph.transpose
// CHECK: %[[g:.*]] = graph.binary sub %{{.*}}, %{{.*}} : <[b, n], f32>
// CHECK-NOT: graph.transpose
// CHECK: %[[dx:.*]] = graph.contract %[[g]], %[[w:.*]] batch [] x [] contract [1] x [1]
// CHECK: %[[dw:.*]] = graph.contract %[[x]], %[[g]] batch [] x [] contract [0] x [0]
// CHECK: return %[[loss]], %[[dx]], %[[dw]]
func.func @linear(%x: !graph.tensor<[b, k], f32> {graph.name = "x"}, %bias: !graph.tensor<[n], f32>) -> !graph.tensor<[], f32> {
  %w = graph.weight "w" : !graph.tensor<[k, n], f32>
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, k], f32>, !graph.tensor<[k, n], f32>
  %1 = graph.broadcast %bias dims [1] : !graph.tensor<[n], f32> -> !graph.tensor<[b, n], f32>
  %2 = graph.binary add %0, %1 : !graph.tensor<[b, n], f32>
  %3 = graph.unary tanh %2 : !graph.tensor<[b, n], f32>
  %4 = graph.reduce add %3 axes [0, 1] : !graph.tensor<[b, n], f32>
  return %4 : !graph.tensor<[], f32>
}

// -----

// A value without a path to the loss has the gradient 0, a constant; the dead branch is unchanged.
// CHECK-LABEL: func.func @unreached
// CHECK: graph.unary sin
// CHECK-NOT: graph.unary cos
// CHECK: %[[dx:.*]] = graph.constant dense<1.000000e+00> : tensor<f32> -> <[], f32>
// CHECK: %[[dw:.*]] = graph.constant dense<0.000000e+00> : tensor<f32> -> <[n], f32>
// CHECK: return %{{.*}}, %[[dx]], %[[dw]]
func.func @unreached(%x: !graph.tensor<[], f32> {graph.name = "x"}, %w: !graph.tensor<[n], f32> {graph.name = "w"}) -> !graph.tensor<[], f32> {
  %dead = graph.unary sin %w : !graph.tensor<[n], f32>
  return %x : !graph.tensor<[], f32>
}

// -----

// expected-error @+1 {{has no argument and no weight 'x'}}
func.func @unnamed(%y: !graph.tensor<[], f32>) -> !graph.tensor<[], f32> {
  return %y : !graph.tensor<[], f32>
}
