// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(task-copy-results))' | FileCheck %s

// A value that is computed and returned once is not copied, nor is a reshape of it.
// CHECK-LABEL: func.func @computed
// CHECK:         %[[SUM:.*]] = tile.compute
// CHECK:         %[[FLAT:.*]] = graph.reshape %[[SUM]]
// CHECK-NEXT:    return %[[FLAT]]
func.func @computed(%x: !graph.tensor<[n, 4], f32>) -> !graph.tensor<[4*n], f32> {
  %0 = tile.compute [n, 4] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32>
  %1 = graph.reshape %0 : !graph.tensor<[n, 4], f32> -> !graph.tensor<[4*n], f32>
  return %1 : !graph.tensor<[4*n], f32>
}

// What is computed before the sizes of its reshape are known is copied behind what binds them.
// CHECK-LABEL: func.func @sized_later
// CHECK:         %[[SUM:.*]] = tile.compute [n, 4]
// CHECK:         tile.opaque [1]
// CHECK:         %[[FLAT:.*]] = graph.reshape %[[SUM]]
// CHECK-NEXT:    %[[COPY:.*]] = tile.compute [twice] [parallel] ins(%[[FLAT]]
// CHECK:         return %[[COPY]]
func.func @sized_later(%x: !graph.tensor<[n, 4], f32>, %s: !graph.tensor<[], i64>) -> !graph.tensor<[twice], f32>
    attributes {graph.definitions = [["twice", #sym.expr<2*k>]]} {
  %0 = tile.compute [n, 4] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32>
  %1 = tile.opaque [1] ins(%s) attributes {binds = "k"} {
  ^bb0(%i: index, %from: memref<?xi64>, %to: memref<?xi64>):
    %k = memref.load %from[%i] : memref<?xi64>
    memref.store %k, %to[%i] : memref<?xi64>
    tile.yield
  } : (!graph.tensor<[], i64>) -> !graph.tensor<[], i64>
  %2 = graph.reshape %0 : !graph.tensor<[n, 4], f32> -> !graph.tensor<[twice], f32>
  return %2 : !graph.tensor<[twice], f32>
}

// If two results alias, the second is copied.
// CHECK-LABEL: func.func @twice
// CHECK:         %[[FIRST:.*]] = tile.compute [n, 4]
// CHECK:         %[[FLAT:.*]] = graph.reshape %[[FIRST]]
// CHECK:         %[[COPY:.*]] = tile.compute [4*n] [parallel] ins(%[[FLAT]]
// CHECK:         return %[[FIRST]], %[[COPY]]
func.func @twice(%x: !graph.tensor<[n, 4], f32>) -> (!graph.tensor<[n, 4], f32>, !graph.tensor<[4*n], f32>) {
  %0 = tile.compute [n, 4] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32>
  %1 = graph.reshape %0 : !graph.tensor<[n, 4], f32> -> !graph.tensor<[4*n], f32>
  return %0, %1 : !graph.tensor<[n, 4], f32>, !graph.tensor<[4*n], f32>
}

// Inputs, weights and constants are copied.
// CHECK-LABEL: func.func @given
// CHECK-SAME:    (%[[X:.*]]: !graph
// CHECK:         %[[FLAT:.*]] = graph.reshape %[[X]]
// CHECK:         %[[WEIGHT:.*]] = graph.weight
// CHECK:         %[[CONSTANT:.*]] = graph.constant
// CHECK:         %[[A:.*]] = tile.compute [n] [parallel] ins(%[[X]]
// CHECK:         %[[ONE:.*]] = graph.reshape %[[FLAT]]
// CHECK:         %[[ONECOPY:.*]] = tile.compute [n] [parallel] ins(%[[ONE]]
// CHECK:         %[[B:.*]] = graph.reshape %[[ONECOPY]]
// CHECK:         %[[C:.*]] = tile.compute [3] [parallel] ins(%[[WEIGHT]]
// CHECK:         %[[D:.*]] = tile.compute [] [] ins(%[[CONSTANT]]
// CHECK:         return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @given(%x: !graph.tensor<[n], f32>)
    -> (!graph.tensor<[n], f32>, !graph.tensor<[n, 1], f32>, !graph.tensor<[3], f16>, !graph.tensor<[], i64>) {
  %0 = graph.reshape %x : !graph.tensor<[n], f32> -> !graph.tensor<[n, 1], f32>
  %1 = graph.weight "w" : !graph.tensor<[3], f16>
  %2 = graph.constant dense<7> : tensor<i64> -> !graph.tensor<[], i64>
  return %x, %0, %1, %2 : !graph.tensor<[n], f32>, !graph.tensor<[n, 1], f32>, !graph.tensor<[3], f16>, !graph.tensor<[], i64>
}

// A new value of state aliases the old one, and no output.
// CHECK-LABEL: func.func @kept
// CHECK:         %[[NEW:.*]] = tile.compute [3] [parallel] ins(%arg0
// CHECK:         %[[COPY:.*]] = tile.compute [3] [parallel] ins(%[[NEW]]
// CHECK:         return %[[COPY]], %[[NEW]]
func.func @kept(%w: !graph.tensor<[3], f32> {graph.state = "w"})
    -> (!graph.tensor<[3], f32> {graph.name = "y"}, !graph.tensor<[3], f32> {graph.state = "w"}) {
  %0 = tile.compute [3] [parallel] ins(%w : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[3], f32>) -> !graph.tensor<[3], f32>
  return %0, %0 : !graph.tensor<[3], f32>, !graph.tensor<[3], f32>
}

// A branch's result without a limit is copied behind what binds its size, as a row, and read from there.
// CHECK-LABEL: func.func @branch
// CHECK:         %[[BOTH:.*]]:2 = tile.branch
// CHECK:         tile.opaque [1] ins(%[[BOTH]]#1)
// CHECK:         %[[ROW:.*]] = graph.reshape %[[BOTH]]#0
// CHECK:         %[[COPY:.*]] = tile.compute [4*k] [parallel] ins(%[[ROW]]
// CHECK:         %[[MATRIX:.*]] = graph.reshape %[[COPY]]
// CHECK:         tile.compute [4, k] [parallel, reduction] ins(%[[MATRIX]]
func.func @branch(%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n, 4], f32>) -> !graph.tensor<[4], f32> {
  %0:2 = tile.branch %c then @side else @side(%x) : (!graph.tensor<[], i1>, !graph.tensor<[n, 4], f32>) -> (!graph.tensor<[k, 4], f32>, !graph.tensor<[], i64>)
  %1 = tile.opaque [1] ins(%0#1) attributes {binds = "k"} {
  ^bb0(%i: index, %from: memref<?xi64>, %to: memref<?xi64>):
    %k = memref.load %from[%i] : memref<?xi64>
    memref.store %k, %to[%i] : memref<?xi64>
    tile.yield
  } : (!graph.tensor<[], i64>) -> !graph.tensor<[], i64>
  %2 = tile.compute [4, k] [parallel, reduction] ins(%0#0 : affine_map<(d0, d1) -> (d1, d0)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    %3 = arith.maximumf %a, %b : f32
    tile.yield %3 : f32
  } : (!graph.tensor<[k, 4], f32>) -> !graph.tensor<[4], f32>
  return %2 : !graph.tensor<[4], f32>
}

func.func private @side(%x: !graph.tensor<[n, 4], f32>) -> (!graph.tensor<[n, 4], f32>, !graph.tensor<[], i64>) {
  %0 = tile.compute [n, 4] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32>
  %1 = tile.compute [] [] ins() {
    %n = arith.constant 4 : i64
    tile.yield %n : i64
  } : () -> !graph.tensor<[], i64>
  return %0, %1 : !graph.tensor<[n, 4], f32>, !graph.tensor<[], i64>
}
