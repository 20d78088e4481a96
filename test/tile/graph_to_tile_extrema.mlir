// RUN: freestone-opt %s --graph-to-tile | FileCheck %s

// Extrema of all elements are found row by row first, of as many rows as have a few hundred elements; sums by the first
// dimension, in the order of its elements.
// CHECK-LABEL: func.func @whole
// CHECK:         tile.compute [b, s, 384] [parallel, parallel, reduction]
// CHECK:         tile.compute [b, s] [reduction, reduction]
// CHECK:         tile.compute [b, s, 384] [parallel, reduction, reduction]
// CHECK:         tile.compute [b] [reduction]
func.func @whole(%x: !graph.tensor<[b, s, 384], f32>) -> (!graph.tensor<[], f32>, !graph.tensor<[], f32>) {
  %0 = graph.reduce max %x axes [0, 1, 2] : !graph.tensor<[b, s, 384], f32>
  %1 = graph.reduce add %x axes [0, 1, 2] : !graph.tensor<[b, s, 384], f32>
  return %0, %1 : !graph.tensor<[], f32>, !graph.tensor<[], f32>
}

// CHECK-LABEL: func.func @pictures
// CHECK:         tile.compute [1, 64, 56, 56] [parallel, parallel, reduction, reduction]
// CHECK:         tile.compute [1, 64] [reduction, reduction]
func.func @pictures(%x: !graph.tensor<[1, 64, 56, 56], f32>) -> !graph.tensor<[], f32> {
  %0 = graph.reduce min %x axes [0, 1, 2, 3] : !graph.tensor<[1, 64, 56, 56], f32>
  return %0 : !graph.tensor<[], f32>
}
