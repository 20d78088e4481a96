// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-prune-binders))' | FileCheck %s

// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%x: !graph.tensor<[m], f32>) {
  %i = graph.nonzero %x : !graph.tensor<[m], f32> -> !graph.tensor<[1, n], i64>
  return
}

// CHECK-LABEL: func.func @sizeIsUsed
// CHECK-NEXT: graph.nonzero
func.func @sizeIsUsed(%x: !graph.tensor<[m], f32>) -> !graph.tensor<[1], i64> {
  %i = graph.nonzero %x : !graph.tensor<[m], f32> -> !graph.tensor<[1, n], i64>
  %s = graph.sizes [n]
  return %s : !graph.tensor<[1], i64>
}

// CHECK-LABEL: func.func @number
// CHECK-NEXT: graph.count_to
// CHECK-NEXT: graph.sizes
func.func @number(%x: !graph.tensor<[], i64>) -> !graph.tensor<[1], i64> {
  %i = graph.count_to %x : !graph.tensor<[], i64> -> !graph.tensor<[n], i64>
  %j = graph.count_to %x : !graph.tensor<[], i64> -> !graph.tensor<[m], i64>
  %s = graph.sizes [n]
  return %s : !graph.tensor<[1], i64>
}
