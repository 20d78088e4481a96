// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-to-tile))' | FileCheck %s

// A tile has columns of all rows, to which it adds updates; rows without updates are not touched. Out-of-bounds indices write
// nothing.
// CHECK-LABEL: func.func @rows
// CHECK:         tile.opaque [6] ins(%arg0, %arg1, %arg2) attributes {updates}
// CHECK-NEXT:    ^bb0(%[[TILE:.*]]: index, %{{.*}}: memref<?xf32>, %[[INDICES:.*]]: memref<?xi64>, %[[UPDATES:.*]]: memref<?xf32>, %[[RESULT:.*]]: memref<?xf32>):
// CHECK:           %[[COLUMN:.*]] = arith.remui %[[TILE]]
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[COLUMN]], %c64
// CHECK:           %[[NEXT:.*]] = arith.addi %[[BEGIN]], %c64
// CHECK:           %[[END:.*]] = arith.minsi %[[NEXT]], %c384
// CHECK-NOT:       vector.store
// CHECK:           scf.for
// CHECK:             memref.load %[[INDICES]]
// CHECK:             %[[INSIDE:.*]] = arith.cmpi ult
// CHECK:             tile.check %[[INSIDE]], "an index is outside of its axis"
// CHECK:             scf.if %[[INSIDE]]
// CHECK:               arith.addi %[[ROW:.*]], %[[BEGIN]]
// CHECK:               %[[FROM:.*]] = arith.maxsi
// CHECK:               arith.addi %[[ROW]], %[[END]]
// CHECK:               %[[TO:.*]] = arith.minsi
// CHECK:               scf.for %[[I:.*]] = %[[FROM]] to %[[WHOLE:.*]] step
// CHECK:                 %[[OLD:.*]] = vector.load %[[RESULT]][%[[I]]]
// CHECK:                 %[[UPDATE:.*]] = vector.load %[[UPDATES]]
// CHECK:                 %[[NEW:.*]] = arith.addf %[[OLD]], %[[UPDATE]] : vector<16xf32>
// CHECK:                 vector.store %[[NEW]], %[[RESULT]][%[[I]]]
// CHECK:               scf.for %{{.*}} = %[[WHOLE]] to %[[TO]] step
// CHECK:                 arith.addf %{{.*}} : f32
func.func @rows(%x: !graph.tensor<[50257, 384], f32>, %i: !graph.tensor<[2048, 1], i64>, %u: !graph.tensor<[2048, 384], f32>) -> !graph.tensor<[50257, 384], f32> {
  %y = graph.scatter_nd add %x, %i, %u
       : !graph.tensor<[50257, 384], f32>, !graph.tensor<[2048, 1], i64>, !graph.tensor<[2048, 384], f32>
  return %y : !graph.tensor<[50257, 384], f32>
}

// -----

// Updates of one element each: the indices are read once.
// CHECK-LABEL: func.func @elements
// CHECK:         tile.opaque [1] ins
func.func @elements(%x: !graph.tensor<[300, 300], f32>, %i: !graph.tensor<[90000, 2], i64>, %u: !graph.tensor<[90000], f32>) -> !graph.tensor<[300, 300], f32> {
  %y = graph.scatter_nd add %x, %i, %u
       : !graph.tensor<[300, 300], f32>, !graph.tensor<[90000, 2], i64>, !graph.tensor<[90000], f32>
  return %y : !graph.tensor<[300, 300], f32>
}

// -----

// The number of tiles depends on the updates alone. Vectors hold twice as many elements of half the size.
// CHECK-LABEL: func.func @gradient
// CHECK:         tile.opaque [min((3*b) floordiv (2*max(b, 64)), 31) + 1] ins(%{{.*}}, %arg0, %arg1)
// CHECK:           arith.addf %{{.*}} : vector<32xf32>
// CHECK-NEXT:      arith.truncf %{{.*}} : vector<32xf32> to vector<32xf16>
func.func @gradient(%i: !graph.tensor<[b, 1], i64>, %u: !graph.tensor<[b, 96], f16>) -> !graph.tensor<[v, 96], f16> {
  %x = graph.constant dense<0.0> : tensor<f16> -> !graph.tensor<[v, 96], f16>
  %y = graph.scatter_nd add %x, %i, %u
       : !graph.tensor<[v, 96], f16>, !graph.tensor<[b, 1], i64>, !graph.tensor<[b, 96], f16>
  return %y : !graph.tensor<[v, 96], f16>
}

// -----

// Lines of the updates along the axis are tiles of their own, neighbouring ones together, however many lines the operand has.
// CHECK-LABEL: func.func @columns
// CHECK:         tile.opaque [5*min(m, n)] ins(%arg0, %arg1, %arg2) attributes {updates}
// CHECK:           scf.if
// CHECK:             memref.store
func.func @columns(%x: !graph.tensor<[m, v, 300], f32>, %i: !graph.tensor<[n, b, 300], i64>, %u: !graph.tensor<[n, b, 300], f32>) -> !graph.tensor<[m, v, 300], f32> {
  %y = graph.scatter_elements add %x, %i, %u axis 1
       : !graph.tensor<[m, v, 300], f32>, !graph.tensor<[n, b, 300], i64>, !graph.tensor<[n, b, 300], f32>
  return %y : !graph.tensor<[m, v, 300], f32>
}

// -----

// CHECK-LABEL: func.func @lines
// CHECK:         tile.opaque [n] ins(%arg0, %arg1, %arg2) attributes {updates}
// CHECK:           memref.store %{{.*}} : memref<?xi8>
func.func @lines(%x: !graph.tensor<[n, v], i1>, %i: !graph.tensor<[n, b], i64>, %u: !graph.tensor<[n, b], i1>) -> !graph.tensor<[n, v], i1> {
  %y = graph.scatter_elements none %x, %i, %u axis 1
       : !graph.tensor<[n, v], i1>, !graph.tensor<[n, b], i64>, !graph.tensor<[n, b], i1>
  return %y : !graph.tensor<[n, v], i1>
}
