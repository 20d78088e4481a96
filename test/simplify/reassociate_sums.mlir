// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-reassociate-sums))' | FileCheck %s
// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-reassociate-sums{enable=false}))' | FileCheck %s --check-prefix=OFF

// The gradient of softmax within an attention with dropout: the weights are masked, and NaN beside a gradient of 0.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[p:.*]]: !graph.tensor<[b, m, n], f32>, %[[v:.*]]: !graph.tensor<[b, n, e], f32>, %[[a:.*]]: !graph.tensor<[e, b, m], f32>
// CHECK: %[[o:.*]] = graph.contract %{{.*}}, %[[v]]
// CHECK: %[[at:.*]] = graph.transpose %[[a]] [1, 2, 0]
// CHECK: %[[seen:.*]] = graph.select %{{.*}}, %{{.*}}, %[[o]]
// CHECK: %[[product:.*]] = graph.binary mul %[[at]], %[[seen]] : <[b, m, e], f32>
// CHECK: %[[sum:.*]] = graph.reduce add %[[product]] axes [2]
// CHECK: return %[[o]], %[[sum]]
// OFF: graph.reduce add %{{.*}} axes [2] : <[b, m, n], f32>
func.func @attention(%p: !graph.tensor<[b, m, n], f32>, %v: !graph.tensor<[b, n, e], f32>, %a: !graph.tensor<[e, b, m], f32>,
                     %mask: !graph.tensor<[b, m, n], i1>) -> (!graph.tensor<[b, m, e], f32>, !graph.tensor<[b, m], f32>) {
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[b, m, n], f32>
  %w = graph.select %mask, %p, %zero : !graph.tensor<[b, m, n], i1>, !graph.tensor<[b, m, n], f32>
  %o = graph.contract %w, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, n], f32>, !graph.tensor<[b, n, e], f32>
  %gw = graph.contract %a, %v batch [1] x [0] contract [0] x [2] : !graph.tensor<[e, b, m], f32>, !graph.tensor<[b, n, e], f32>
  %g = graph.select %mask, %gw, %zero : !graph.tensor<[b, m, n], i1>, !graph.tensor<[b, m, n], f32>
  %nan = graph.unary isnan %p : !graph.tensor<[b, m, n], f32>
  %none = graph.compare eq %g, %zero : !graph.tensor<[b, m, n], f32>
  %both = graph.binary and %nan, %none : !graph.tensor<[b, m, n], i1>
  %safe = graph.select %both, %zero, %p : !graph.tensor<[b, m, n], i1>, !graph.tensor<[b, m, n], f32>
  %product = graph.binary mul %g, %safe : !graph.tensor<[b, m, n], f32>
  %sum = graph.reduce add %product axes [2] : !graph.tensor<[b, m, n], f32>
  return %o, %sum : !graph.tensor<[b, m, e], f32>, !graph.tensor<[b, m], f32>
}

// With V on the left, its columns come first; those are reduced.
// CHECK-LABEL: func.func @left
// CHECK: %[[o:.*]] = graph.contract
// CHECK: %[[ot:.*]] = graph.transpose %[[o]] [1, 0]
// CHECK: %[[safe:.*]] = graph.select %{{.*}}, %{{.*}}, %[[ot]]
// CHECK: graph.binary mul %{{.*}}, %[[safe]] : <[m, e], f32>
// CHECK: graph.reduce add %{{.*}} axes [1] : <[m, e], f32>
func.func @left(%w: !graph.tensor<[n, m], f32>, %v: !graph.tensor<[e, n], f32>, %a: !graph.tensor<[m, e], f32>)
    -> (!graph.tensor<[e, m], f32>, !graph.tensor<[m], f32>) {
  %o = graph.contract %v, %w batch [] x [] contract [1] x [0] : !graph.tensor<[e, n], f32>, !graph.tensor<[n, m], f32>
  %g = graph.contract %v, %a batch [] x [] contract [0] x [1] : !graph.tensor<[e, n], f32>, !graph.tensor<[m, e], f32>
  %product = graph.binary mul %w, %g : !graph.tensor<[n, m], f32>
  %sum = graph.reduce add %product axes [0] : !graph.tensor<[n, m], f32>
  return %o, %sum : !graph.tensor<[e, m], f32>, !graph.tensor<[m], f32>
}

// Other weights, another sum: it stays.
// CHECK-LABEL: func.func @otherWeights
// CHECK: graph.reduce add %{{.*}} axes [1] : <[m, n], f32>
func.func @otherWeights(%w: !graph.tensor<[m, n], f32>, %u: !graph.tensor<[m, n], f32>, %v: !graph.tensor<[n, e], f32>, %a: !graph.tensor<[m, e], f32>)
    -> (!graph.tensor<[m, e], f32>, !graph.tensor<[m], f32>) {
  %o = graph.contract %u, %v batch [] x [] contract [1] x [0] : !graph.tensor<[m, n], f32>, !graph.tensor<[n, e], f32>
  %g = graph.contract %a, %v batch [] x [] contract [1] x [1] : !graph.tensor<[m, e], f32>, !graph.tensor<[n, e], f32>
  %product = graph.binary mul %w, %g : !graph.tensor<[m, n], f32>
  %sum = graph.reduce add %product axes [1] : !graph.tensor<[m, n], f32>
  return %o, %sum : !graph.tensor<[m, e], f32>, !graph.tensor<[m], f32>
}
