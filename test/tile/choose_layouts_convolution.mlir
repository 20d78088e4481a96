// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts)' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{convolutions=false})' \
// RUN:   | FileCheck %s --check-prefix=CONTRACTION

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
