// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-to-tile))' | FileCheck %s

// A tile copies its range of the table and adds the part of every update within it. Out-of-bounds indices write
// nothing.
// CHECK-LABEL: func.func @rows
// CHECK:         tile.opaque [32] ins(%arg1, %arg2, %arg0)
// CHECK-NEXT:    ^bb0(%[[TILE:.*]]: index, %[[INDICES:.*]]: memref<?xi64>, %[[UPDATES:.*]]: memref<?xf32>, %[[TABLE:.*]]: memref<?xf32>, %[[RESULT:.*]]: memref<?xf32>):
// CHECK:           %[[LENGTH:.*]] = arith.constant 603136 : index
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[TILE]], %[[LENGTH]]
// CHECK:           %[[END:.*]] = arith.minsi
// CHECK:           scf.for %[[I:.*]] = %[[BEGIN]] to
// CHECK-NEXT:        %[[ELEMENTS:.*]] = vector.load %[[TABLE]][%[[I]]] : memref<?xf32>, vector<16xf32>
// CHECK-NEXT:        vector.store %[[ELEMENTS]], %[[RESULT]][%[[I]]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult
// CHECK:           tile.check %[[INSIDE]], "an index is outside of its axis"
// CHECK:           scf.if %[[INSIDE]]
// CHECK:             %[[FROM:.*]] = arith.maxsi %{{.*}}, %[[BEGIN]]
// CHECK:             %[[TO:.*]] = arith.minsi %{{.*}}, %[[END]]
// CHECK:             scf.for %[[I:.*]] = %[[FROM]] to %[[WHOLE:.*]] step
// CHECK-NEXT:          %[[OLD:.*]] = vector.load %[[RESULT]][%[[I]]]
// CHECK:               %[[UPDATE:.*]] = vector.load %[[UPDATES]]
// CHECK:               %[[NEW:.*]] = arith.addf %[[OLD]], %[[UPDATE]] : vector<16xf32>
// CHECK:               vector.store %[[NEW]], %[[RESULT]][%[[I]]]
// CHECK:             scf.for %{{.*}} = %[[WHOLE]] to %[[TO]] step
// CHECK:               arith.addf %{{.*}} : f32
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

// A table of zeros is no operand. Vectors hold twice as many elements of half the size.
// CHECK-LABEL: func.func @gradient
// CHECK-NOT:     tile.compute
// CHECK:         tile.opaque [min((3*b + 3*v) floordiv (2*max(b, 64)), 31) + 1] ins(%arg0, %arg1)
// CHECK:           %[[ZERO:.*]] = arith.constant 0.000000e+00 : f16
// CHECK:           %[[ZEROS:.*]] = vector.broadcast %[[ZERO]] : f16 to vector<32xf16>
// CHECK-NEXT:      vector.store %[[ZEROS]]
// CHECK:           arith.addf %{{.*}} : vector<32xf32>
// CHECK-NEXT:      arith.truncf %{{.*}} : vector<32xf32> to vector<32xf16>
func.func @gradient(%i: !graph.tensor<[b, 1], i64>, %u: !graph.tensor<[b, 96], f16>) -> !graph.tensor<[v, 96], f16> {
  %x = graph.constant dense<0.0> : tensor<f16> -> !graph.tensor<[v, 96], f16>
  %y = graph.scatter_nd add %x, %i, %u
       : !graph.tensor<[v, 96], f16>, !graph.tensor<[b, 1], i64>, !graph.tensor<[b, 96], f16>
  return %y : !graph.tensor<[v, 96], f16>
}

// -----

// Lines along the axis are tiles of their own; neighbouring ones are copied together.
// CHECK-LABEL: func.func @columns
// CHECK:         tile.opaque [5*n] ins(%arg1, %arg2, %arg0)
// CHECK:           vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK:           scf.if
// CHECK:             memref.store
func.func @columns(%x: !graph.tensor<[n, v, 300], f32>, %i: !graph.tensor<[n, b, 300], i64>, %u: !graph.tensor<[n, b, 300], f32>) -> !graph.tensor<[n, v, 300], f32> {
  %y = graph.scatter_elements add %x, %i, %u axis 1
       : !graph.tensor<[n, v, 300], f32>, !graph.tensor<[n, b, 300], i64>, !graph.tensor<[n, b, 300], f32>
  return %y : !graph.tensor<[n, v, 300], f32>
}

// -----

// CHECK-LABEL: func.func @lines
// CHECK:         tile.opaque [n] ins(%arg1, %arg2, %arg0)
// CHECK:           vector.load %{{.*}} : memref<?xi8>, vector<64xi8>
func.func @lines(%x: !graph.tensor<[n, v], i1>, %i: !graph.tensor<[n, b], i64>, %u: !graph.tensor<[n, b], i1>) -> !graph.tensor<[n, v], i1> {
  %y = graph.scatter_elements none %x, %i, %u axis 1
       : !graph.tensor<[n, v], i1>, !graph.tensor<[n, b], i64>, !graph.tensor<[n, b], i1>
  return %y : !graph.tensor<[n, v], i1>
}
