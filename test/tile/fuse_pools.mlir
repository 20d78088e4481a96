// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-pools))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers{pools=false},tile-fuse),tile-choose-layouts,func.func(tile-fuse-pools{enable=false}))' \
// RUN:   | FileCheck %s --check-prefix=APART

// Bias and relu are inlined into the pooling, next to the convolution; computes after the pooling are fused as well.
// CHECK-LABEL: func.func @pooled
// CHECK:         tile.group {
// CHECK-NEXT:      %[[PIXELS:.*]] = tile.compute [b, 32, h, w, 8, 3, 3]
// CHECK:           %[[MOST:.*]] = tile.compute [b, 32, h floordiv 2, w floordiv 3, 2, 3]
// CHECK-SAME:        ins(%[[PIXELS]] : {{.*}}, %{{.*}} : {{.*}}) init [0xFF800000 : f32]
// CHECK:             arith.addf
// CHECK:             arith.maximumf
// CHECK:             arith.maximumf
// CHECK:           tile.compute [b, 32, h floordiv 2, w floordiv 3] [parallel, parallel, parallel, parallel] ins(%[[MOST]]
// CHECK:             math.tanh
// CHECK:           tile.yield
// CHECK-NOT:     tile.compute
// CHECK:         return
// APART-LABEL: func.func @pooled
// APART:         tile.compute [b, 32, h, w, 8, 3, 3]
// APART:         tile.group {
// APART-NEXT:      tile.compute [b, 32, h floordiv 2, w floordiv 3, 2, 3]
func.func @pooled(%x: !graph.tensor<[b, 8, h, w], f32>) -> !graph.tensor<[b, 32, h floordiv 2, w floordiv 3], f32> {
  %k = graph.weight "k" : !graph.tensor<[32, 8, 3, 3], f32>
  %bias = graph.weight "bias" : !graph.tensor<[32], f32>
  %c = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[32, 8, 3, 3], f32>
  %wide = graph.broadcast %bias dims [1] : !graph.tensor<[32], f32> -> !graph.tensor<[b, 32, h, w], f32>
  %sum = graph.binary add %c, %wide : !graph.tensor<[b, 32, h, w], f32>
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[b, 32, h, w], f32>
  %positive = graph.binary max %sum, %zero : !graph.tensor<[b, 32, h, w], f32>
  %most = graph.window max %positive sizes [2, 3] strides [2, 3] dilations [1, 1] low [0, 0] high [0, 0] : !graph.tensor<[b, 32, h, w], f32>
  %y = graph.unary tanh %most : !graph.tensor<[b, 32, h floordiv 2, w floordiv 3], f32>
  return %y : !graph.tensor<[b, 32, h floordiv 2, w floordiv 3], f32>
}

// Overlapping windows and padding need pixels of other tiles; pixels with other readers must leave the tile.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: tile.compute {{.*}}8, 3, 3]
// CHECK-NOT:     tile.group
// CHECK:         return
func.func @apart(%x: !graph.tensor<[b, 8, 16, 16], f32>)
    -> (!graph.tensor<[b, 32, 7, 7], f32>, !graph.tensor<[b, 32, 9, 9], f32>, !graph.tensor<[b, 32, 8, 8], f32>, !graph.tensor<[b, 32, 16, 16], f32>) {
  %k = graph.weight "k" : !graph.tensor<[32, 8, 3, 3], f32>
  %l = graph.weight "l" : !graph.tensor<[32, 8, 3, 3], f32>
  %m = graph.weight "m" : !graph.tensor<[32, 8, 3, 3], f32>
  %c = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 8, 16, 16], f32>, !graph.tensor<[32, 8, 3, 3], f32>
  %d = graph.convolve %x, %l strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 8, 16, 16], f32>, !graph.tensor<[32, 8, 3, 3], f32>
  %e = graph.convolve %x, %m strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 8, 16, 16], f32>, !graph.tensor<[32, 8, 3, 3], f32>
  %overlapping = graph.window max %c sizes [3, 3] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : !graph.tensor<[b, 32, 16, 16], f32>
  %padded = graph.window max %d sizes [2, 2] strides [2, 2] dilations [1, 1] low [1, 1] high [1, 1] : !graph.tensor<[b, 32, 16, 16], f32>
  %shared = graph.window max %e sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : !graph.tensor<[b, 32, 16, 16], f32>
  return %overlapping, %padded, %shared, %e
    : !graph.tensor<[b, 32, 7, 7], f32>, !graph.tensor<[b, 32, 9, 9], f32>, !graph.tensor<[b, 32, 8, 8], f32>, !graph.tensor<[b, 32, 16, 16], f32>
}
