// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-pools,tile-fuse-chains{target=x86-64-v4}),tile-outline,tile-choose-tiles{target=x86-64-v4})' \
// RUN:   | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-pools,tile-fuse-chains{target=x86-64-v4}),tile-outline,tile-choose-tiles{target=x86-64-v4 windows-in-place=false})' \
// RUN:   | FileCheck %s --check-prefix=COPIED

// A tiling for each stage, which computes for a single worker, sums in one order wherever it begins, and reads the stage
// before in place; rows of the product that the next tile reads are kept.
// CHECK:      tile.program @p0 symbols [s0, s1, s2]
// CHECK-SAME:   #tile.stages<stages = [#tile.convolution<kernel = <{{.*}}in_order = true>, {{.*}}least_tiles = 1, prefetch_channels = 8, in_place = {{[0-9]+}}, copy_ahead = 16>, #tile.window<channels = 1, rows = 4, vectors = 2, lanes = 16, pixels = 1024, copy = {{[0-9]+}}, unroll = 9, channel_vectors = {{[0-9]+}}, in_place = true>],
// CHECK-SAME:   edges = [<level = 2, elements = {{[0-9]+}}, kept = true>], row_unit = 8, least_tiles = 8>,
// CHECK-SAME:   tiles = s0*(s1 ceildiv (8*(min((s0*s1) floordiv 8, {{[0-9]+}} floordiv (3*s2)) floordiv 8) + 8))

// Without: copies of the rows.
// COPIED:      #tile.window<{{.*}}unroll = 9, channel_vectors = {{[0-9]+}}>],
func.func @pair(%x: !graph.tensor<[b, 16, h, w], f32>) -> !graph.tensor<[b, 96, h, w], f32> {
  %k = graph.weight "k" : !graph.tensor<[96, 16, 1, 1], f32>
  %d = graph.weight "d" : !graph.tensor<[96, 1, 3, 3], f32>
  %c = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 16, h, w], f32>, !graph.tensor<[96, 16, 1, 1], f32>
  %e = graph.convolve %c, %d strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 96 : !graph.tensor<[b, 96, h, w], f32>, !graph.tensor<[96, 1, 3, 3], f32>
  return %e : !graph.tensor<[b, 96, h, w], f32>
}
