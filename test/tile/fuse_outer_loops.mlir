// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,tile-inline-producers,cse,tile-fuse,tile-coalesce-loops,cse,tile-fuse-outer-loops{target=x86-64-v4}))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,tile-inline-producers,cse,tile-fuse,tile-coalesce-loops,cse,tile-fuse-outer-loops{enable=false}))' \
// RUN:   | FileCheck %s --check-prefix=APART

// Sums of channels, what is made of them, and a window of single channels: a block of channels goes through all three. The
// window's result and what has the program's readers are yielded, the elements between are not.
// CHECK-LABEL: func.func @normalized
// CHECK-SAME:    outer_loops = 1
// CHECK:         %[[ALL:.*]]:2 = tile.group {
// CHECK:           %[[SUM:.*]] = tile.compute [64, b, 1024] {{.*}} {tile.stage = #tile.stage<number = 0, loop = 0>}
// CHECK:           %[[ELEMENTS:.*]] = tile.compute [64, b, 1024] {{.*}} ins(%{{.*}}, %[[SUM]] {{.*}} {tile.stage = #tile.stage<number = 0, loop = 0>}
// CHECK:           %[[PICTURES:.*]] = graph.reshape %[[ELEMENTS]]
// CHECK:           %[[WINDOWS:.*]] = tile.compute [b, 64, 32, 32, 1, 3, 3] {{.*}} ins(%[[PICTURES]] {{.*}} {tile.stage = #tile.stage<number = 1, loop = 1>}
// CHECK:           tile.yield %[[SUM]], %[[WINDOWS]]
// CHECK:         return %[[ALL]]#1, %[[ALL]]#0
// APART-LABEL: func.func @normalized
// APART-NOT:     tile.stage
func.func @normalized(%x: !graph.tensor<[b, 64, 32, 32], f32>)
    -> (!graph.tensor<[b, 64, 32, 32], f32>, !graph.tensor<[64], f32>) {
  %k = graph.weight "k" : !graph.tensor<[64, 1, 3, 3], f32>
  %sum = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 64, 32, 32], f32>
  %all = graph.broadcast %sum dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64, 32, 32], f32>
  %y = graph.binary sub %x, %all : !graph.tensor<[b, 64, 32, 32], f32>
  %z = graph.convolve %y, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 64 : !graph.tensor<[b, 64, 32, 32], f32>, !graph.tensor<[64, 1, 3, 3], f32>
  return %z, %sum : !graph.tensor<[b, 64, 32, 32], f32>, !graph.tensor<[64], f32>
}

// A product needs all channels of a pixel, few channels are few tiles, and small tensors are in a cache anyway.
// CHECK-LABEL: func.func @apart
// CHECK-NOT:     tile.stage
// CHECK:         return
func.func @apart(%x: !graph.tensor<[b, 64, 32, 32], f32>, %few: !graph.tensor<[b, 8, 32, 32], f32>, %small: !graph.tensor<[1, 64, 8, 8], f32>)
    -> (!graph.tensor<[b, 96, 32, 32], f32>, !graph.tensor<[b, 8, 32, 32], f32>, !graph.tensor<[1, 64, 8, 8], f32>) {
  %p = graph.weight "p" : !graph.tensor<[96, 64, 1, 1], f32>
  %k = graph.weight "l" : !graph.tensor<[64, 1, 3, 3], f32>
  %j = graph.weight "m" : !graph.tensor<[8, 1, 3, 3], f32>
  %sum = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 64, 32, 32], f32>
  %all = graph.broadcast %sum dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64, 32, 32], f32>
  %y = graph.binary sub %x, %all : !graph.tensor<[b, 64, 32, 32], f32>
  %z = graph.convolve %y, %p strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 64, 32, 32], f32>, !graph.tensor<[96, 64, 1, 1], f32>
  %sum1 = graph.reduce add %few axes [0, 2, 3] : !graph.tensor<[b, 8, 32, 32], f32>
  %all1 = graph.broadcast %sum1 dims [1] : !graph.tensor<[8], f32> -> !graph.tensor<[b, 8, 32, 32], f32>
  %y1 = graph.binary sub %few, %all1 : !graph.tensor<[b, 8, 32, 32], f32>
  %z1 = graph.convolve %y1, %j strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 8 : !graph.tensor<[b, 8, 32, 32], f32>, !graph.tensor<[8, 1, 3, 3], f32>
  %sum2 = graph.reduce add %small axes [0, 2, 3] : !graph.tensor<[1, 64, 8, 8], f32>
  %all2 = graph.broadcast %sum2 dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[1, 64, 8, 8], f32>
  %y2 = graph.binary sub %small, %all2 : !graph.tensor<[1, 64, 8, 8], f32>
  %z2 = graph.convolve %y2, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 64 : !graph.tensor<[1, 64, 8, 8], f32>, !graph.tensor<[64, 1, 3, 3], f32>
  return %z, %z1, %z2 : !graph.tensor<[b, 96, 32, 32], f32>, !graph.tensor<[b, 8, 32, 32], f32>, !graph.tensor<[1, 64, 8, 8], f32>
}
