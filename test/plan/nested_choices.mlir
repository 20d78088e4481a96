// Choices and stages nest: each node above dealt blocks is a function, and its name begins with that around it.
// DEFINE: %{choose} = func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-pools,tile-fuse-chains{target=x86-64-v4}),tile-outline,tile-choose-tiles{target=x86-64-v4}
// DEFINE: %{product} = #tile.convolution<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, pixels = 32, area = 32, panels = 4, channels = 16, least_tiles = 1, prefetch_channels = 8, in_place = 65536>
// DEFINE: %{window} = #tile.window<channels = 1, rows = 4, vectors = 2, lanes = 16, pixels = 1024, copy = 4096>
// DEFINE: %{small} = #tile.window<channels = 1, rows = 2, vectors = 1, lanes = 16, pixels = 64, copy = 512>
// DEFINE: %{rest} = edges = [<level = 2, elements = 65536, kept = true>], row_unit = 8, least_tiles = 8
// DEFINE: %{stages} = #tile.stages<stages = [%{product}, %{window}], %{rest}>
// DEFINE: %{inner} = #tile.stages<stages = [%{product}, #tile.choice<[<size = s2, most = 9, tiling = %{small}>], otherwise = %{window}>], %{rest}>
// RUN: echo 'p0 #tile.choice<[<size = s0, most = 1, tiling = %{stages}>], otherwise = #tile.choice<[<size = s1, most = 7, tiling = %{stages}>], otherwise = %{inner}>>' > %t
// RUN: freestone-opt %s --pass-pipeline='builtin.module(%{choose},tile-replace-tilings{tilings=%t})' | sed -e '/func.func/,/^  }/d' \
// RUN:   | freestone-opt --codegen-emit-programs | FileCheck %s

// CHECK-LABEL: module @p0
// CHECK:         func.func @p0.0.stage0(
// CHECK:         func.func @p0.0.stage1
// CHECK:         func.func @p0.0(
// CHECK:           call @p0.0.stage0(
// CHECK:         func.func @p0.1.0.stage0(
// CHECK:         func.func @p0.1.0(
// CHECK:         func.func @p0.1.1.stage1.0
// CHECK:         func.func @p0.1.1.stage1.1
// CHECK:         func.func @p0.1.1.stage1(
// CHECK:           arith.cmpi sle
// CHECK:             call @p0.1.1.stage1.0(
// CHECK:             call @p0.1.1.stage1.1(
// CHECK:         func.func @p0.1.1(
// CHECK:           call @p0.1.1.stage1(
// CHECK:         func.func @p0.1(
// CHECK:           call @p0.1.0(
// CHECK:           call @p0.1.1(
// CHECK:         func.func @p0(
// CHECK:           call @p0.0(
// CHECK:           call @p0.1(
func.func @pair(%x: !graph.tensor<[b, 16, h, w], f32>) -> !graph.tensor<[b, 96, h, w], f32> {
  %k = graph.weight "k" : !graph.tensor<[96, 16, 1, 1], f32>
  %d = graph.weight "d" : !graph.tensor<[96, 1, 3, 3], f32>
  %c = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 16, h, w], f32>, !graph.tensor<[96, 16, 1, 1], f32>
  %e = graph.convolve %c, %d strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 96 : !graph.tensor<[b, 96, h, w], f32>, !graph.tensor<[96, 1, 3, 3], f32>
  return %e : !graph.tensor<[b, 96, h, w], f32>
}
