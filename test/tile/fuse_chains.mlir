// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-pools,tile-fuse-chains{target=x86-64-v4}))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-pools,tile-fuse-chains{enable=false}))' \
// RUN:   | FileCheck %s --check-prefix=APART

// The depthwise convolution reads rows of the first product, the last product those of the depthwise convolution, whose
// dimension of one element needs no reshape any more. The residual goes with the last stage.
// CHECK-LABEL: func.func @inverted
// CHECK-SAME:    chained = 2
// CHECK:         %[[BLOCK:.*]] = tile.group {
// CHECK-NEXT:      %[[WIDE:.*]] = tile.compute [b, 96, h, w, 32]
// CHECK:           %[[CLIPPED:.*]] = tile.compute [b, 96, h, w] {{.*}} ins(%[[WIDE]]
// CHECK:           %[[ROWS:.*]] = tile.compute [b, 96, h, w, 1, 3, 3] {{.*}} ins(%[[CLIPPED]]
// CHECK:           %[[LAST:.*]] = tile.compute [b, 96, h, w] {{.*}} ins(%[[ROWS]]
// CHECK:           %[[NARROW:.*]] = tile.compute [b, 32, h, w, 96] {{.*}} ins(%[[LAST]]
// CHECK-NOT:       graph.reshape
// CHECK:           %[[SUM:.*]] = tile.compute [b, 32, h, w] {{.*}} ins(%{{.*}}
// CHECK:           tile.yield %[[SUM]]
// CHECK:         return %[[BLOCK]]
// APART-LABEL: func.func @inverted
// APART-COUNT-3: tile.group {
// APART:         return
func.func @inverted(%x: !graph.tensor<[b, 32, h, w], f32>) -> !graph.tensor<[b, 32, h, w], f32> {
  %k = graph.weight "k" : !graph.tensor<[96, 32, 1, 1], f32>
  %d = graph.weight "d" : !graph.tensor<[96, 1, 3, 3], f32>
  %p = graph.weight "p" : !graph.tensor<[32, 96, 1, 1], f32>
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[b, 96, h, w], f32>
  %c = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 32, h, w], f32>, !graph.tensor<[96, 32, 1, 1], f32>
  %wide = graph.binary max %c, %zero : !graph.tensor<[b, 96, h, w], f32>
  %e = graph.convolve %wide, %d strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 96 : !graph.tensor<[b, 96, h, w], f32>, !graph.tensor<[96, 1, 3, 3], f32>
  %rows = graph.binary max %e, %zero : !graph.tensor<[b, 96, h, w], f32>
  %f = graph.convolve %rows, %p strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 96, h, w], f32>, !graph.tensor<[32, 96, 1, 1], f32>
  %y = graph.binary add %f, %x : !graph.tensor<[b, 32, h, w], f32>
  return %y : !graph.tensor<[b, 32, h, w], f32>
}

// Windows of a pool overlap, and reach over the border.
// CHECK-LABEL: func.func @stem
// CHECK-SAME:    chained = 1
// CHECK:         tile.group {
// CHECK-NEXT:      %[[PIXELS:.*]] = tile.compute [b, 64, 112, 112, 3, 7, 7]
// CHECK:           tile.compute [b, 64, 56, 56, 3, 3] {{.*}} ins(%[[PIXELS]]
// CHECK:           tile.yield
func.func @stem(%x: !graph.tensor<[b, 3, 224, 224], f32>) -> !graph.tensor<[b, 64, 56, 56], f32> {
  %k = graph.weight "stem" : !graph.tensor<[64, 3, 7, 7], f32>
  %c = graph.convolve %x, %k strides [2, 2] dilations [1, 1] operand_dilation [1, 1] low [3, 3] high [2, 2] groups 1 : !graph.tensor<[b, 3, 224, 224], f32>, !graph.tensor<[64, 3, 7, 7], f32>
  %y = graph.window max %c sizes [3, 3] strides [2, 2] dilations [1, 1] low [1, 1] high [0, 0] : !graph.tensor<[b, 64, 112, 112], f32>
  return %y : !graph.tensor<[b, 64, 56, 56], f32>
}

// What has other readers stays a picture; a small one stays in the cache in any case.
// CHECK-LABEL: func.func @apart
// CHECK-NOT:     chained
// CHECK-NOT:     tile.group
// CHECK:         return
func.func @apart(%x: !graph.tensor<[1, 32, 112, 112], f32>, %z: !graph.tensor<[1, 32, 7, 7], f32>)
    -> (!graph.tensor<[1, 64, 112, 112], f32>, !graph.tensor<[1, 64, 112, 112], f32>, !graph.tensor<[1, 64, 7, 7], f32>) {
  %k = graph.weight "l" : !graph.tensor<[64, 32, 1, 1], f32>
  %d = graph.weight "m" : !graph.tensor<[64, 1, 3, 3], f32>
  %c = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[1, 32, 112, 112], f32>, !graph.tensor<[64, 32, 1, 1], f32>
  %e = graph.convolve %c, %d strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 64 : !graph.tensor<[1, 64, 112, 112], f32>, !graph.tensor<[64, 1, 3, 3], f32>
  %f = graph.convolve %z, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[1, 32, 7, 7], f32>, !graph.tensor<[64, 32, 1, 1], f32>
  %g = graph.convolve %f, %d strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 64 : !graph.tensor<[1, 64, 7, 7], f32>, !graph.tensor<[64, 1, 3, 3], f32>
  return %c, %e, %g : !graph.tensor<[1, 64, 112, 112], f32>, !graph.tensor<[1, 64, 112, 112], f32>, !graph.tensor<[1, 64, 7, 7], f32>
}
