// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-split-batches))' | FileCheck %s
// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-split-batches{enable=false}))' | FileCheck %s --check-prefix=OFF

// Scores are split before they are masked and reduced, weights merged behind: both products have both dimensions.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[q:.*]]: !graph.tensor<[4*b, m, d], f32>, %[[k:.*]]: !graph.tensor<[b, 4, d, n], f32>, %[[v:.*]]: !graph.tensor<[b, n, 4, e], f32>
// CHECK-SAME: graph.split_batches = 2
// CHECK: %[[q4:.*]] = graph.reshape %[[q]] : <[4*b, m, d], f32> -> <[b, 4, m, d], f32>
// CHECK: %[[s:.*]] = graph.contract %[[q4]], %[[k]] batch [0, 1] x [0, 1] contract [3] x [2]
// CHECK: graph.unary neg %[[s]] : <[b, 4, m, n], f32>
// CHECK: %[[p:.*]] = graph.binary mul
// CHECK: %[[vt:.*]] = graph.transpose %[[v]] [0, 2, 1, 3]
// CHECK: %[[z:.*]] = graph.contract %[[p]], %[[vt]] batch [0, 1] x [0, 1] contract [3] x [2]
// CHECK: %[[merged:.*]] = graph.reshape %[[z]] : <[b, 4, m, e], f32> -> <[4*b, m, e], f32>
// CHECK: return %[[merged]]
// OFF-LABEL: func.func @attention
// OFF: graph.contract %{{.*}}, %{{.*}} batch [0] x [0] contract [2] x [1] : <[4*b, m, d], f32>
// OFF: graph.contract %{{.*}}, %{{.*}} batch [0] x [0] contract [2] x [1] : <[4*b, m, n], f32>
func.func @attention(%q: !graph.tensor<[4*b, m, d], f32>, %k: !graph.tensor<[b, 4, d, n], f32>, %v: !graph.tensor<[b, n, 4, e], f32>,
                     %mask: !graph.tensor<[b, 4, m, n], f32>) -> !graph.tensor<[4*b, m, e], f32> {
  %km = graph.reshape %k : !graph.tensor<[b, 4, d, n], f32> -> !graph.tensor<[4*b, d, n], f32>
  %s = graph.contract %q, %km batch [0] x [0] contract [2] x [1] : !graph.tensor<[4*b, m, d], f32>, !graph.tensor<[4*b, d, n], f32>
  %scaled = graph.unary neg %s : !graph.tensor<[4*b, m, n], f32>
  %split = graph.reshape %scaled : !graph.tensor<[4*b, m, n], f32> -> !graph.tensor<[b, 4, m, n], f32>
  %t = graph.binary add %split, %mask : !graph.tensor<[b, 4, m, n], f32>
  %most = graph.reduce max %t axes [3] : !graph.tensor<[b, 4, m, n], f32>
  %each = graph.broadcast %most dims [0, 1, 2] : !graph.tensor<[b, 4, m], f32> -> !graph.tensor<[b, 4, m, n], f32>
  %p = graph.binary mul %t, %each : !graph.tensor<[b, 4, m, n], f32>
  %w = graph.reshape %p : !graph.tensor<[b, 4, m, n], f32> -> !graph.tensor<[4*b, m, n], f32>
  %vt = graph.transpose %v [0, 2, 1, 3] : !graph.tensor<[b, n, 4, e], f32>
  %vm = graph.reshape %vt : !graph.tensor<[b, 4, n, e], f32> -> !graph.tensor<[4*b, n, e], f32>
  %z = graph.contract %w, %vm batch [0] x [0] contract [2] x [1] : !graph.tensor<[4*b, m, n], f32>, !graph.tensor<[4*b, n, e], f32>
  return %z : !graph.tensor<[4*b, m, e], f32>
}

// Scores that are merged again before they are reduced stay merged.
// CHECK-LABEL: func.func @merged
// CHECK: graph.contract %{{.*}}, %{{.*}} batch [0] x [0] contract [2] x [2] : <[4*b, m, d], f32>
func.func @merged(%q: !graph.tensor<[4*b, m, d], f32>, %k: !graph.tensor<[4*b, n, d], f32>,
                  %mask: !graph.tensor<[b, 4, m, n], f32>) -> !graph.tensor<[4*b, m], f32> {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[4*b, m, d], f32>, !graph.tensor<[4*b, n, d], f32>
  %split = graph.reshape %s : !graph.tensor<[4*b, m, n], f32> -> !graph.tensor<[b, 4, m, n], f32>
  %t = graph.binary add %split, %mask : !graph.tensor<[b, 4, m, n], f32>
  %w = graph.reshape %t : !graph.tensor<[b, 4, m, n], f32> -> !graph.tensor<[4*b, m, n], f32>
  %most = graph.reduce max %w axes [2] : !graph.tensor<[4*b, m, n], f32>
  return %most : !graph.tensor<[4*b, m], f32>
}
