// Where a core reads the last cache nearly as fast as the second one, rows between stages stay in the second: there, they
// need not be fetched before they are written, nor go back.
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-fuse-chains{target={{"triple":"t","cpu":"c","features":"","units":2,"memory_levels":[{"bytes":32768},{"bytes":1048576},{"bytes":33554432}],"rates":{"levels":[193e9,111e9,94e9],"memory_copy":15e9,"memory_read":31e9,"memory_write":33e9,"multiply_adds":58e9},"vector_bytes":64,"vector_registers":32}}}),tile-outline,tile-choose-tiles{target={{"triple":"t","cpu":"c","features":"","units":2,"memory_levels":[{"bytes":32768},{"bytes":1048576},{"bytes":33554432}],"rates":{"levels":[193e9,111e9,94e9],"memory_copy":15e9,"memory_read":31e9,"memory_write":33e9,"multiply_adds":58e9},"vector_bytes":64,"vector_registers":32}}})' \
// RUN:   | FileCheck %s

// CHECK: #tile.stages<{{.*}}edges = [<level = 2, elements = 131072, kept = true>], row_unit = 7,
func.func @pair(%x: !graph.tensor<[b, 16, 112, 112], f32>) -> !graph.tensor<[b, 96, 56, 56], f32> {
  %k = graph.weight "k" : !graph.tensor<[96, 16, 1, 1], f32>
  %d = graph.weight "d" : !graph.tensor<[96, 1, 3, 3], f32>
  %c = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[b, 16, 112, 112], f32>, !graph.tensor<[96, 16, 1, 1], f32>
  %e = graph.convolve %c, %d strides [2, 2] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [0, 0] groups 96 : !graph.tensor<[b, 96, 112, 112], f32>, !graph.tensor<[96, 1, 3, 3], f32>
  return %e : !graph.tensor<[b, 96, 56, 56], f32>
}
