// Few rows of a picture are divided among the workers of the device, though registers hold eight; for one worker, 14
// are two blocks of seven.
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-chains{target={{"triple":"t","cpu":"c","features":"","units":4,"memory_levels":[{"bytes":32768},{"bytes":1048576},{"bytes":16777216}],"vector_bytes":64,"vector_registers":32}}}),tile-outline,tile-choose-tiles{target={{"triple":"t","cpu":"c","features":"","units":4,"memory_levels":[{"bytes":32768},{"bytes":1048576},{"bytes":16777216}],"vector_bytes":64,"vector_registers":32}}})' \
// RUN:   | FileCheck %s --check-prefix=FOUR
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-chains{target=x86-64-v4}),tile-outline,tile-choose-tiles{target=x86-64-v4})' \
// RUN:   | FileCheck %s --check-prefix=ONE

// FOUR: #tile.stages<{{.*}}row_unit = 4, least_tiles = 32>
// ONE:  #tile.stages<{{.*}}row_unit = 7, least_tiles = 8>
func.func @pair(%x: !graph.tensor<[b, 16, 14, 56], f32>) -> !graph.tensor<[b, 96, 14, 56], f32> {
  %k = graph.weight "k" : !graph.tensor<[96, 16, 1, 1], f32>
  %d = graph.weight "d" : !graph.tensor<[96, 1, 3, 3], f32>
  %c = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 16, 14, 56], f32>, !graph.tensor<[96, 16, 1, 1], f32>
  %e = graph.convolve %c, %d strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 96 : !graph.tensor<[b, 96, 14, 56], f32>, !graph.tensor<[96, 1, 3, 3], f32>
  return %e : !graph.tensor<[b, 96, 14, 56], f32>
}
