// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,func.func(tile-coalesce-loops),tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases{target=x86-64-v4})' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,ON
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{transform=false},func.func(tile-coalesce-loops),tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases{target=x86-64-v4})' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,OFF

// Transformed filters have 36 products for 16 results instead of 144.
// CHECK-LABEL: task.program @transformed
// ON:            task.space {{.*}} time 875843 scratch
// OFF:           task.space {{.*}} time 3073805 scratch
func.func @transformed(%x: !graph.tensor<[1, 64, 64, 64], f32> {graph.name = "x"}) -> (!graph.tensor<[1, 96, 64, 64], f32> {graph.name = "y"}) {
  %w = graph.weight "w" : !graph.tensor<[96, 64, 3, 3], f32>
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !graph.tensor<[1, 64, 64, 64], f32>, !graph.tensor<[96, 64, 3, 3], f32>
  return %y : !graph.tensor<[1, 96, 64, 64], f32>
}

// Of few channels, results take longer than products: 8 are not twice as long as 4.
// CHECK-LABEL: task.program @four
// CHECK:         task.space {{.*}} time 159786 scratch
// CHECK-LABEL: task.program @eight
// CHECK:         task.space {{.*}} time 188500 scratch
func.func @four(%x: !graph.tensor<[1, 4, 64, 64], f32> {graph.name = "x"}) -> (!graph.tensor<[1, 128, 64, 64], f32> {graph.name = "y"}) {
  %w = graph.weight "four" : !graph.tensor<[128, 4, 1, 1], f32>
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[1, 4, 64, 64], f32>, !graph.tensor<[128, 4, 1, 1], f32>
  return %y : !graph.tensor<[1, 128, 64, 64], f32>
}
func.func @eight(%x: !graph.tensor<[1, 8, 64, 64], f32> {graph.name = "x"}) -> (!graph.tensor<[1, 128, 64, 64], f32> {graph.name = "y"}) {
  %w = graph.weight "eight" : !graph.tensor<[128, 8, 1, 1], f32>
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 : !graph.tensor<[1, 8, 64, 64], f32>, !graph.tensor<[128, 8, 1, 1], f32>
  return %y : !graph.tensor<[1, 128, 64, 64], f32>
}
