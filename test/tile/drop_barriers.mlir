// RUN: freestone-opt %s --tile-drop-barriers | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[x:[a-z0-9]+]]: !graph.tensor<[n], f32>)
// CHECK-NOT: graph.barrier
// CHECK: graph.reshape %[[x]]
func.func @main(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[1, n], f32> {
  %0 = graph.barrier %x : !graph.tensor<[n], f32>
  %1 = graph.reshape %0 : !graph.tensor<[n], f32> -> !graph.tensor<[1, n], f32>
  return %1 : !graph.tensor<[1, n], f32>
}
