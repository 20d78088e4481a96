// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts)' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{steps-per-byte=100})' \
// RUN:   | FileCheck %s --check-prefix=SMALL
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{transform=false})' \
// RUN:   | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-coalesce-loops),tile-outline,tile-choose-tiles{target=x86-64-v4})' \
// RUN:   | FileCheck %s --check-prefix=TILES

// Filters of 3 x 3 taps are transformed where pictures are large.
// CHECK-LABEL: func.func @large
// CHECK-SAME:    !graph.tensor<[64, 3, 3, 96], f32, #tile.winograd<outputs = 4, width = 32>> {graph.weight = "w:packed"}
// CHECK-LABEL: func.func @init
// CHECK:         tile.compute [3, 64, 3, 3, 32]
// CHECK:         %[[MATRIX:.*]] = graph.constant {{.*}}<[6, 3], f32>
// CHECK:         tile.compute [3, 6, 6, 64, 32] {{.*}}%[[MATRIX]]
// SMALL-LABEL: func.func @large
// SMALL-SAME:    #tile.winograd<outputs = 2, width = 32>
// SMALL:       func.func @init
// SMALL:         graph.constant {{.*}}<[4, 3], f32>
// OFF-LABEL: func.func @large
// OFF-SAME:    #tile.panels<axis = 3, width = 32>
// TILES:       #tile.convolution<{{.*}}least_tiles = {{[0-9]+}}, {{.*}}transformed = {{[1-9]}}
func.func @large(%x: !graph.tensor<[b, 64, h, w], f32>) -> !graph.tensor<[b, 96, h, w], f32> {
  %w = graph.weight "w" : !graph.tensor<[96, 64, 3, 3], f32>
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[96, 64, 3, 3], f32>
  return %y : !graph.tensor<[b, 96, h, w], f32>
}

// Not where the more weights cost more than the fewer products save, nor with strides, dilations or groups.
// CHECK-LABEL: func.func @others
// CHECK-SAME:    #tile.panels
// CHECK-NOT:     #tile.winograd
// CHECK:         return
func.func @others(%x: !graph.tensor<[b, 512, 7, 7], f32>, %z: !graph.tensor<[b, 64, h, w], f32>)
    -> (!graph.tensor<[b, 512, 7, 7], f32>, !graph.tensor<[b, 64, (h - 1) floordiv 2 + 1, (w - 1) floordiv 2 + 1], f32>, !graph.tensor<[b, 64, h, w], f32>) {
  %v = graph.weight "small" : !graph.tensor<[512, 512, 3, 3], f32>
  %y = graph.convolve %x, %v strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 512, 7, 7], f32>, !graph.tensor<[512, 512, 3, 3], f32>
  %u = graph.weight "strided" : !graph.tensor<[64, 64, 3, 3], f32>
  %s = graph.convolve %z, %u strides [2, 2] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[64, 64, 3, 3], f32>
  %d = graph.convolve %z, %u strides [1, 1] dilations [2, 2] operand_dilation [1, 1] low [2, 2] high [2, 2] groups 1 : !graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[64, 64, 3, 3], f32>
  return %y, %s, %d : !graph.tensor<[b, 512, 7, 7], f32>, !graph.tensor<[b, 64, (h - 1) floordiv 2 + 1, (w - 1) floordiv 2 + 1], f32>, !graph.tensor<[b, 64, h, w], f32>
}

// What the run brings is transformed in it.
// CHECK-LABEL: func.func @given
// CHECK:         %[[STORED:.*]] = tile.compute [2, 6, 6, 64, 32]
// CHECK:         tile.view %[[STORED]] : <[2, 6, 6, 64, 32], f32> -> <[64, 3, 3, 64], f32, #tile.winograd<outputs = 4, width = 32>>
func.func @given(%x: !graph.tensor<[b, 64, h, w], f32>, %k: !graph.tensor<[64, 64, 3, 3], f32>) -> !graph.tensor<[b, 64, h, w], f32> {
  %y = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[b, 64, h, w], f32>, !graph.tensor<[64, 64, 3, 3], f32>
  return %y : !graph.tensor<[b, 64, h, w], f32>
}

// Of volumes, taps along the depth count as channels.
// CHECK-LABEL: func.func @volume
// CHECK-SAME:    !graph.tensor<[32, 3, 3, 3, 64], f32, #tile.winograd<outputs = 4, width = 32>> {graph.weight = "deep:packed"}
func.func @volume(%x: !graph.tensor<[b, 32, d, h, w], f32>) -> !graph.tensor<[b, 64, d, h, w], f32> {
  %k = graph.weight "deep" : !graph.tensor<[64, 32, 3, 3, 3], f32>
  %y = graph.convolve %x, %k strides [1, 1, 1] dilations [1, 1, 1] operand_dilation [1, 1, 1] low [1, 1, 1] high [1, 1, 1] groups 1 : !graph.tensor<[b, 32, d, h, w], f32>, !graph.tensor<[64, 32, 3, 3, 3], f32>
  return %y : !graph.tensor<[b, 64, d, h, w], f32>
}
