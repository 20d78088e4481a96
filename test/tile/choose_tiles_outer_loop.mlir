// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,tile-inline-producers,cse,tile-fuse,tile-coalesce-loops,cse,tile-fuse-outer-loops{target=x86-64-v4}),tile-outline,tile-choose-tiles{target=x86-64-v4})' \
// RUN:   | FileCheck %s

// Each stage has the tiling of the program that it would be apart. A block has at least one channel, more where those of a
// run's pictures are a small part of L2, and fewer where tiles would be few. The elements between the stages are in scratch.
// CHECK:      tile.program @p0 symbols [s0](%{{.*}}: !graph.tensor<[s0, 64, 1024], f32>, %{{.*}}: !graph.tensor<[64, 1, 3, 3], f32>)
// CHECK-SAME:   -> (!graph.tensor<[64], f32>, !graph.tensor<[s0, 64, 32, 32], f32>)
// CHECK-SAME:   #tile.outer_loop<stages = [#tile.rows<row_loops = 1, {{.*}}>, #tile.window<channels = 1, {{.*}}>], elements = [[E:[0-9]+]], least_tiles = [[T:[0-9]+]]>,
// CHECK-SAME:   tiles = 64 ceildiv (min([[E]] floordiv (max(1024*s0, 1)), 8) + 1), scratch = 4096*s0*min([[E]] floordiv (max(1024*s0, 1)), 8) + 4096*s0 + {{[0-9]+}}, reads = [unit, unit], writes = [unit, unit]>
func.func @normalized(%x: !graph.tensor<[b, 64, 32, 32], f32>)
    -> (!graph.tensor<[b, 64, 32, 32], f32>, !graph.tensor<[64], f32>) {
  %k = graph.weight "k" : !graph.tensor<[64, 1, 3, 3], f32>
  %sum = graph.reduce add %x axes [0, 2, 3] : !graph.tensor<[b, 64, 32, 32], f32>
  %all = graph.broadcast %sum dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64, 32, 32], f32>
  %y = graph.binary sub %x, %all : !graph.tensor<[b, 64, 32, 32], f32>
  %z = graph.convolve %y, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 64 : !graph.tensor<[b, 64, 32, 32], f32>, !graph.tensor<[64, 1, 3, 3], f32>
  return %z, %sum : !graph.tensor<[b, 64, 32, 32], f32>, !graph.tensor<[64], f32>
}
