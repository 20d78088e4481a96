// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(tile-unfold-convolutions))' | FileCheck %s

!x = !graph.tensor<[n, 8, h, w], ui8>
!w = !graph.tensor<[16, 8, 1, 3], i8>

// Windows whose columns are close to each other are packed to words as they are.
// CHECK-LABEL: func.func @close
// CHECK-NOT:     unfolded
// CHECK:         graph.convolve
func.func @close(%x: !x, %w: !w) -> !graph.tensor<[n, 16, h, w], i32> {
  %0 = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 1] high [0, 1] groups 1 as i32 : !x, !w
  return %0 : !graph.tensor<[n, 16, h, w], i32>
}

// CHECK-LABEL: func.func @strides
// CHECK-SAME:    unfolded = 1
// CHECK:         %[[ROWS:.*]] = graph.reshape %{{.*}} : <[16, 1, 3, 8], i8> -> <[16, 24], i8>
// CHECK:         graph.pad {{.*}} low [0, 0, 0, 1] high [0, 0, 0, 1]
// CHECK-COUNT-3: graph.slice
// CHECK:         %[[COLUMNS:.*]] = graph.concat {{.*}} axis 0
// CHECK:         graph.contract %[[ROWS]], %[[COLUMNS]] batch [] x [] contract [1] x [0] as i32 : <[16, 24], i8>
// CHECK-NOT:     graph.convolve
func.func @strides(%x: !x, %w: !w) -> !graph.tensor<[n, 16, h, (w - 1) floordiv 5 + 1], i32> {
  %0 = graph.convolve %x, %w strides [1, 5] dilations [1, 1] operand_dilation [1, 1] low [0, 1] high [0, 1] groups 1 as i32 : !x, !w
  return %0 : !graph.tensor<[n, 16, h, (w - 1) floordiv 5 + 1], i32>
}

// Groups, and integers that are wider.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: graph.convolve
func.func @others(%x: !x, %w: !graph.tensor<[16, 4, 1, 3], i8>, %y: !graph.tensor<[n, 8, h, w], i32>, %v: !graph.tensor<[16, 8, 1, 3], i32>)
    -> (!graph.tensor<[n, 16, h, (w - 1) floordiv 5 + 1], i32>, !graph.tensor<[n, 16, h, (w - 1) floordiv 5 + 1], i32>) {
  %0 = graph.convolve %x, %w strides [1, 5] dilations [1, 1] operand_dilation [1, 1] low [0, 1] high [0, 1] groups 2 as i32 : !x, !graph.tensor<[16, 4, 1, 3], i8>
  %1 = graph.convolve %y, %v strides [1, 5] dilations [1, 1] operand_dilation [1, 1] low [0, 1] high [0, 1] groups 1 : !graph.tensor<[n, 8, h, w], i32>, !graph.tensor<[16, 8, 1, 3], i32>
  return %0, %1 : !graph.tensor<[n, 16, h, (w - 1) floordiv 5 + 1], i32>, !graph.tensor<[n, 16, h, (w - 1) floordiv 5 + 1], i32>
}
