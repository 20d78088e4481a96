// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile{residue-classes=false}))' | FileCheck %s --check-prefix=OFF

// Kernel and stride of 2: positions share no elements, so all four classes are one contraction with four times the
// channels.
// CHECK-LABEL: func.func @apart
// CHECK-SAME:    residue_classes = 4
// CHECK:         tile.compute [n, 32, 2, 2, h, w, 64] [parallel, parallel, parallel, parallel, parallel, parallel, reduction]
// CHECK-NOT:     arith.select
// CHECK:         tile.compute [n, 32, 2*h, 2*w]
// CHECK:           arith.select
// OFF-LABEL: func.func @apart
// OFF-NOT:     residue_classes
// OFF-SAME:    summed_by_points = 1
// OFF:         tile.compute [n, 32, 2*h, 2*w, 64, 2, 2]
// OFF:           arith.select
func.func @apart(%x: !graph.tensor<[n, 64, h, w], f32>, %k: !graph.tensor<[32, 64, 2, 2], f32>) -> !graph.tensor<[n, 32, 2*h, 2*w], f32> {
  %y = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [2, 2] low [1, 1] high [1, 1] groups 1
       : !graph.tensor<[n, 64, h, w], f32>, !graph.tensor<[32, 64, 2, 2], f32>
  return %y : !graph.tensor<[n, 32, 2*h, 2*w], f32>
}

// A kernel of 3: even positions read one tap in a dimension, odd ones two, which leave the operand at its end.
// CHECK-LABEL: func.func @overlapping
// CHECK-SAME:    residue_classes = 4
// CHECK:         tile.compute [n, 8, h, w, 4]
// CHECK-NOT:     fill
// CHECK:         tile.compute [n, 8, h, w, 4, 2]
// CHECK:         fill
// CHECK:         tile.compute [n, 8, h, w, 4, 2]
// CHECK:         tile.compute [n, 8, h, w, 4, 2, 2]
// CHECK:         tile.compute [n, 8, 2*h, 2*w] [parallel, parallel, parallel, parallel]
func.func @overlapping(%x: !graph.tensor<[n, 4, h, w], f32>, %k: !graph.tensor<[8, 4, 3, 3], f32>) -> !graph.tensor<[n, 8, 2*h, 2*w], f32> {
  %y = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [2, 2] low [1, 1] high [2, 2] groups 1
       : !graph.tensor<[n, 4, h, w], f32>, !graph.tensor<[8, 4, 3, 3], f32>
  return %y : !graph.tensor<[n, 8, 2*h, 2*w], f32>
}

// The input gradient of a convolution with one tap and a stride of 2 along one dimension: every other position is zero.
// CHECK-LABEL: func.func @zeros
// CHECK-SAME:    residue_classes = 2
// CHECK-COUNT-1: reduction
// CHECK:         tile.compute [n, 8, 2*w - 1] [parallel, parallel, parallel]
// CHECK:           arith.select
func.func @zeros(%x: !graph.tensor<[n, 4, w], f32>, %k: !graph.tensor<[8, 4, 1], f32>) -> !graph.tensor<[n, 8, 2*w - 1], f32> {
  %y = graph.convolve %x, %k strides [1] dilations [1] operand_dilation [2] low [0] high [0] groups 1
       : !graph.tensor<[n, 4, w], f32>, !graph.tensor<[8, 4, 1], f32>
  return %y : !graph.tensor<[n, 8, 2*w - 1], f32>
}

// Paddings known only at run time.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     residue_classes
// CHECK-SAME:    summed_by_points = 1
// CHECK:         tile.compute [n, 8, p + 2*w - 1, 4, 1]
func.func @unknown(%x: !graph.tensor<[n, 4, w], f32>, %k: !graph.tensor<[8, 4, 1], f32>) -> !graph.tensor<[n, 8, p + 2*w - 1], f32> {
  %y = graph.convolve %x, %k strides [1] dilations [1] operand_dilation [2] low [p] high [0] groups 1
       : !graph.tensor<[n, 4, w], f32>, !graph.tensor<[8, 4, 1], f32>
  return %y : !graph.tensor<[n, 8, p + 2*w - 1], f32>
}

// Taps that leave gaps: of four residues three have a tap. Each has a window of its own, and none is read for the fourth.
// CHECK-LABEL: func.func @gaps
// CHECK-SAME:    tile.counters = {{.*}}residue_classes = 16
// CHECK-NOT:     tile.compute [n, 8, 2,
// CHECK:         return
func.func @gaps(%x: !graph.tensor<[n, 4, h, w], f32>, %k: !graph.tensor<[8, 4, 3, 3], f32>) -> !graph.tensor<[n, 8, 4*h, 4*w], f32> {
  %y = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [4, 4] low [1, 1] high [4, 4] groups 1
       : !graph.tensor<[n, 4, h, w], f32>, !graph.tensor<[8, 4, 3, 3], f32>
  return %y : !graph.tensor<[n, 8, 4*h, 4*w], f32>
}
