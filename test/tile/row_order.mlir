// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse))' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse{order-maps=false}))' \
// RUN:   | FileCheck %s --check-prefix=OFF

// What subtracts a batch's mean of each channel goes along the channels, as the sum does, and both are one program; the
// convolution reads the result in this order.
// CHECK-DAG:   #[[PICTURE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d2 + d5 - 1, d3 + d6 - 1)>
// CHECK-DAG:   #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2, d3)>
// CHECK-DAG:   #[[MEAN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0)>
// CHECK-LABEL: func.func @centered
// CHECK-SAME:    ordered_maps = 1 : i64
// CHECK:         %[[GROUP:.*]] = tile.group {
// CHECK:           %[[SUM:.*]] = tile.compute [64, b, 28, 28] [parallel, reduction, reduction, reduction] ins(%arg0 : #[[X]])
// CHECK:           %[[ROWS:.*]] = tile.compute [64, b, 28, 28] [parallel, parallel, parallel, parallel] ins(%arg0 : #[[X]], %{{.*}} : #[[MEAN]])
// CHECK:           tile.yield %[[ROWS]] : !graph.tensor<[64, b, 28, 28], f32>
// CHECK:         tile.compute [b, 32, 28, 28, 64, 3, 3] {{.*}} ins(%[[GROUP]] : #[[PICTURE]]
// OFF-LABEL:   func.func @centered
// OFF:           tile.compute [b, 64, 28, 28] [parallel, parallel, parallel, parallel]
func.func @centered(%x: !graph.tensor<[b, 64, 28, 28], f32>, %w: !graph.tensor<[32, 64, 3, 3], f32>) -> !graph.tensor<[b, 32, 28, 28], f32> {
  %s = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 64, 28, 28], f32>
  %m = graph.unary tanh %s : !graph.tensor<[64], f32>
  %e = graph.broadcast %m dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64, 28, 28], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[b, 64, 28, 28], f32>
  %y = graph.convolve %c, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
       : !graph.tensor<[b, 64, 28, 28], f32>, !graph.tensor<[32, 64, 3, 3], f32>
  return %y : !graph.tensor<[b, 32, 28, 28], f32>
}

// -----

// Results that leave the function keep their order, as do those of too few rows for all workers that may be long.
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     ordered_maps
// CHECK:         tile.compute [b, 64, 28, 28] [parallel, parallel, parallel, parallel]
// CHECK-LABEL: func.func @few
// CHECK-NOT:     ordered_maps
// CHECK:         tile.compute [b, 16, 112, 112] [parallel, parallel, parallel, parallel]
func.func @returned(%x: !graph.tensor<[b, 64, 28, 28], f32>) -> !graph.tensor<[b, 64, 28, 28], f32> {
  %s = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 64, 28, 28], f32>
  %m = graph.unary tanh %s : !graph.tensor<[64], f32>
  %e = graph.broadcast %m dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64, 28, 28], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[b, 64, 28, 28], f32>
  return %c : !graph.tensor<[b, 64, 28, 28], f32>
}
func.func @few(%x: !graph.tensor<[b, 16, 112, 112], f32>, %w: !graph.tensor<[32, 16, 3, 3], f32>) -> !graph.tensor<[b, 32, 112, 112], f32> {
  %s = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 16, 112, 112], f32>
  %m = graph.unary tanh %s : !graph.tensor<[16], f32>
  %e = graph.broadcast %m dims [1] : !graph.tensor<[16], f32> -> !graph.tensor<[b, 16, 112, 112], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[b, 16, 112, 112], f32>
  %y = graph.convolve %c, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
       : !graph.tensor<[b, 16, 112, 112], f32>, !graph.tensor<[32, 16, 3, 3], f32>
  return %y : !graph.tensor<[b, 32, 112, 112], f32>
}

// -----

// What is computed again goes along what was kept.
// CHECK-DAG:   #[[KEPT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @again
// CHECK:         %[[KEPT_TENSOR:.*]] = graph.barrier %{{.*}} : <[64, b, 28, 28], f32>
// CHECK:         %[[AGAIN:.*]] = tile.compute [64, b, 28, 28] [parallel, parallel, parallel, parallel] ins(%[[KEPT_TENSOR]] : #[[KEPT]])
// CHECK:           math.exp
// CHECK:         tile.compute [b, 32, 28, 28, 64, 3, 3] {{.*}} ins(%[[AGAIN]] : #{{.*}}
func.func @again(%x: !graph.tensor<[64, b, 28, 28], f32>, %w: !graph.tensor<[32, 64, 3, 3], f32>) -> !graph.tensor<[b, 32, 28, 28], f32> {
  %n = graph.unary tanh %x : !graph.tensor<[64, b, 28, 28], f32>
  %k = graph.barrier %n : !graph.tensor<[64, b, 28, 28], f32>
  %t = graph.transpose %k [1, 0, 2, 3] : !graph.tensor<[64, b, 28, 28], f32>
  %e = graph.unary exp %t : !graph.tensor<[b, 64, 28, 28], f32>
  %y = graph.convolve %e, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
       : !graph.tensor<[b, 64, 28, 28], f32>, !graph.tensor<[32, 64, 3, 3], f32>
  return %y : !graph.tensor<[b, 32, 28, 28], f32>
}
