// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{transform=false})' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{convolutions=false})' \
// RUN:   | FileCheck %s --check-prefix=CONTRACTION

// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{in-place=false})' \
// RUN:   | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{transform=false},func.func(tile-coalesce-loops),tile-outline,tile-choose-tiles{target=x86-64-v4})' \
// RUN:   | FileCheck %s --check-prefix=TILES

// Weights of a convolution that fills its panels are packed along the output channels; those of few channels are not.
// CHECK-LABEL: func.func @convolution
// CHECK-SAME:    !graph.tensor<[8, 3, 3, 64], f32, #tile.panels<axis = 3, width = 32>> {graph.weight = "many:packed"}
// CHECK:         graph.weight "few"
// CONTRACTION-LABEL: func.func @convolution
// CONTRACTION-NOT:   panels
// CONTRACTION:       return
func.func @convolution(%x: !graph.tensor<[b, 8, h, w], f32>) -> (!graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[b, 8, h, w], f32>) {
  %many = graph.weight "many" : !graph.tensor<[64, 8, 3, 3], f32>
  %few = graph.weight "few" : !graph.tensor<[8, 8, 3, 3], f32>
  %y = graph.convolve %x, %many strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[64, 8, 3, 3], f32>
  %z = graph.convolve %x, %few strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[8, 8, 3, 3], f32>
  return %y, %z : !graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[b, 8, h, w], f32>
}

// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{in-runs=false transform=false})' \
// RUN:   | FileCheck %s --check-prefix=APART

// Weights that a run brings are packed in it, once for all convolutions that read them in the same way, if they serve
// many pixels.
// CHECK-LABEL: func.func @given
// CHECK:         %[[STORED:.*]] = tile.compute [2, 8, 3, 3, 32]
// CHECK:         %[[PACKED:.*]] = tile.view %[[STORED]] : <[2, 8, 3, 3, 32], f32> -> <[8, 3, 3, 64], f32, #tile.panels<axis = 3, width = 32>>
// CHECK:         tile.compute {{.*}} ins(%arg0 : {{.*}}, %[[PACKED]] :
// CHECK:         tile.compute {{.*}} ins(%arg1 : {{.*}}, %arg2 :
// CHECK:         tile.compute {{.*}} ins(%{{.*}} : {{.*}}, %[[PACKED]] :
// APART-LABEL: func.func @given
// APART-NOT:     panels
// APART:         return
func.func @given(%x: !graph.tensor<[b, 8, h, w], f32>, %s: !graph.tensor<[2, 8, 7, 7], f32>, %k: !graph.tensor<[64, 8, 3, 3], f32>)
    -> (!graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[2, 64, 7, 7], f32>, !graph.tensor<[b, 64, h, w], f32>) {
  %y = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[64, 8, 3, 3], f32>
  %z = graph.convolve %s, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[2, 8, 7, 7], f32>, !graph.tensor<[64, 8, 3, 3], f32>
  %n = graph.unary neg %x : !graph.tensor<[b, 8, h, w], f32>
  %v = graph.convolve %n, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[64, 8, 3, 3], f32>
  return %y, %z, %v : !graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[2, 64, 7, 7], f32>, !graph.tensor<[b, 64, h, w], f32>
}

// A single tap is no loop, and rows of pixels without a border are one row: the picture is read in place. Channels that
// leave a fifth of a panel empty stay in rows, as those of a product.
// CHECK-LABEL: func.func @single
// CHECK-SAME:    !graph.tensor<[8, 64], f32, #tile.panels<axis = 1, width = 32>> {graph.weight = "wide:packed"}
// CHECK:         graph.weight "narrow"
// OFF-LABEL: func.func @single
// OFF-NOT:     panels
// OFF:         return
// TILES:       tile.convolution<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, pixels = {{[0-9]+}}, area = {{[0-9]+}},
// TILES:       tile.convolution<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, pixels = [[AREA:[0-9]+]], area = [[AREA]],
// TILES-SAME:  least_tiles = {{[0-9]+}}, prefetch_channels = 8, in_place = {{[0-9]+}}, copy_ahead = 16>
func.func @single(%x: !graph.tensor<[b, 8, h, w], f32>) -> (!graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[b, 24, h, w], f32>) {
  %wide = graph.weight "wide" : !graph.tensor<[64, 8, 1, 1], f32>
  %narrow = graph.weight "narrow" : !graph.tensor<[24, 8, 1, 1], f32>
  %y = graph.convolve %x, %wide strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[64, 8, 1, 1], f32>
  %z = graph.convolve %x, %narrow strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[24, 8, 1, 1], f32>
  return %y, %z : !graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[b, 24, h, w], f32>
}
