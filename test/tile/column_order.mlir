// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse))' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse{order-products=false}))' \
// RUN:   | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse{columns=28}))' \
// RUN:   | FileCheck %s --check-prefix=FULL

// What subtracts a batch's mean leaves pictures channel by channel. The convolution of a single tap that reads them
// writes its result so, with what follows on it, and the one of 3x3 taps reads it in this order. Panels that a picture's
// columns fill stay those of a picture.
// CHECK-DAG:   #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d1, d2, d3)>
// CHECK-DAG:   #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, 0, 0)>
// CHECK-DAG:   #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[PICTURE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d2 + d5 - 1, d3 + d6 - 1)>
// CHECK-LABEL: func.func @taps
// CHECK-SAME:    ordered_products = 1 : i64
// CHECK:         tile.group
// CHECK:         %[[GROUP:.*]] = tile.group {
// CHECK:           %[[Y_:.*]] = tile.compute [32, b, 14, 14, 64] {{.*}} ins(%{{.*}} : #[[X]], %arg1 : #[[W]])
// CHECK:           tile.compute [32, b, 14, 14] [parallel, parallel, parallel, parallel] ins(%[[Y_]] : #[[Y]])
// CHECK:         tile.compute [b, 16, 14, 14, 32, 3, 3] {{.*}} ins(%[[GROUP]] : #[[PICTURE]]
// OFF-LABEL:   func.func @taps
// OFF-NOT:       ordered_products
// OFF:           tile.compute [b, 32, 14, 14, 64]
// FULL-LABEL:  func.func @taps
// FULL-NOT:      ordered_products
// FULL:          tile.compute [b, 32, 14, 14, 64]
func.func @taps(%x: !graph.tensor<[b, 64, 14, 14], f32>, %w: !graph.tensor<[32, 64, 1, 1], f32>, %o: !graph.tensor<[16, 32, 3, 3], f32>) -> !graph.tensor<[b, 16, 14, 14], f32> {
  %s = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 64, 14, 14], f32>
  %m = graph.unary tanh %s : !graph.tensor<[64], f32>
  %e = graph.broadcast %m dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64, 14, 14], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[b, 64, 14, 14], f32>
  %y = graph.convolve %c, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1
       : !graph.tensor<[b, 64, 14, 14], f32>, !graph.tensor<[32, 64, 1, 1], f32>
  %t = graph.unary tanh %y : !graph.tensor<[b, 32, 14, 14], f32>
  %z = graph.convolve %t, %o strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
       : !graph.tensor<[b, 32, 14, 14], f32>, !graph.tensor<[16, 32, 3, 3], f32>
  return %z : !graph.tensor<[b, 16, 14, 14], f32>
}

// -----

// A product keeps its order with what follows, if this reads pictures in another order, or if its result leaves the
// function.
// CHECK-LABEL: func.func @residual
// CHECK-NOT:     ordered_products
// CHECK:         tile.compute [b, 32, 14, 14, 64]
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     ordered_products
// CHECK:         tile.compute [b, 32, 14, 14, 64]
func.func @residual(%x: !graph.tensor<[b, 64, 14, 14], f32>, %w: !graph.tensor<[32, 64, 1, 1], f32>, %r: !graph.tensor<[b, 32, 14, 14], f32>) -> !graph.tensor<[32], f32> {
  %s = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 64, 14, 14], f32>
  %m = graph.unary tanh %s : !graph.tensor<[64], f32>
  %e = graph.broadcast %m dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64, 14, 14], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[b, 64, 14, 14], f32>
  %y = graph.convolve %c, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1
       : !graph.tensor<[b, 64, 14, 14], f32>, !graph.tensor<[32, 64, 1, 1], f32>
  %t = graph.binary add %y, %r : !graph.tensor<[b, 32, 14, 14], f32>
  %z = graph.reduce add %t axes [0, 2, 3] : !graph.tensor<[b, 32, 14, 14], f32>
  return %z : !graph.tensor<[32], f32>
}
func.func @returned(%x: !graph.tensor<[b, 64, 14, 14], f32>, %w: !graph.tensor<[32, 64, 1, 1], f32>) -> !graph.tensor<[b, 32, 14, 14], f32> {
  %s = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 64, 14, 14], f32>
  %m = graph.unary tanh %s : !graph.tensor<[64], f32>
  %e = graph.broadcast %m dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64, 14, 14], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[b, 64, 14, 14], f32>
  %y = graph.convolve %c, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1
       : !graph.tensor<[b, 64, 14, 14], f32>, !graph.tensor<[32, 64, 1, 1], f32>
  return %y : !graph.tensor<[b, 32, 14, 14], f32>
}

// -----

// A result that is read channel by channel is written so, but where a picture's columns fill panels the product goes
// picture by picture.
// CHECK-LABEL: func.func @by_channel
// CHECK:         tile.compute [b, 32, 28, 28, 64]
// OFF-LABEL:   func.func @by_channel
// OFF:           tile.compute [32, b, 28, 28, 64]
// FULL-LABEL:  func.func @by_channel
// FULL:          tile.compute [b, 32, 28, 28, 64]
func.func @by_channel(%x: !graph.tensor<[b, 64, 28, 28], f32>, %w: !graph.tensor<[32, 64, 1, 1], f32>) -> !graph.tensor<[32], f32> {
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1
       : !graph.tensor<[b, 64, 28, 28], f32>, !graph.tensor<[32, 64, 1, 1], f32>
  %t = graph.transpose %y [1, 0, 2, 3] : !graph.tensor<[b, 32, 28, 28], f32>
  %s = graph.reduce add %t axes [1, 2, 3] : !graph.tensor<[32, b, 28, 28], f32>
  %u = graph.unary tanh %t : !graph.tensor<[32, b, 28, 28], f32>
  %v = graph.reduce max %u axes [1, 2, 3] : !graph.tensor<[32, b, 28, 28], f32>
  %r = graph.binary add %s, %v : !graph.tensor<[32], f32>
  return %r : !graph.tensor<[32], f32>
}
