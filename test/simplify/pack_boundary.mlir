// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-pack-boundary))' | FileCheck %s
// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-pack-boundary,graph-to-tile))' | FileCheck %s --check-prefix=TILE

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: !graph.tensor<[n, 3], i4, #graph.packed>) -> (!graph.tensor<[n, 3], ui4, #graph.packed>
// CHECK: %[[ONE:.*]] = graph.unpack %[[X]]
// CHECK: %[[W:.*]] = graph.weight "w" : <[2, 4], f4E2M1FN, #graph.packed>
// CHECK: graph.unpack %[[W]]
// CHECK: %[[Y:.*]] = graph.bitcast %[[ONE]] to ui4
// CHECK: graph.pack %[[Y]]

// Rows of 3 elements begin within bytes, those of 4 with one.
// TILE-LABEL: func.func @main
// TILE: tile.view {{.*}} -> <[2*n - n floordiv 2], ui8>
// TILE: tile.compute [3*n]
// TILE: tile.view {{.*}} -> <[2, 2], ui8>
// TILE: tile.compute [2, 4]
func.func @main(%x: !graph.tensor<[n, 3], i4>) -> (!graph.tensor<[n, 3], ui4>, !graph.tensor<[2, 4], f32>) {
  %w = graph.weight "w" : <[2, 4], f4E2M1FN>
  %0 = graph.cast %w to f32 : <[2, 4], f4E2M1FN>
  %y = graph.bitcast %x to ui4 : <[n, 3], i4>
  return %y, %0 : !graph.tensor<[n, 3], ui4>, !graph.tensor<[2, 4], f32>
}

// What comes in goes out as it is.
// CHECK-LABEL: func.func @identity
// CHECK-NOT: graph.pack %
// CHECK: return %arg0
func.func @identity(%x: !graph.tensor<[n], ui2>) -> !graph.tensor<[n], ui2> {
  return %x : !graph.tensor<[n], ui2>
}

// Bodies of loops and branches are parts of a program.
// CHECK-LABEL: func.func private @body
// CHECK-NOT: packed
func.func private @body(%x: !graph.tensor<[n], i2>) -> !graph.tensor<[n], i2> {
  return %x : !graph.tensor<[n], i2>
}
