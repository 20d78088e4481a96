// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-bind-symbols))' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: !graph.tensor<[8, s], f32>) -> !graph.tensor<[8*s], f32>
// CHECK-SAME: graph.symbols = {s = #sym.bounds<[1, 16]>}
// CHECK-NEXT: graph.reshape %{{.*}} : <[8, s], f32> -> <[8*s], f32>
func.func @main(%x: !graph.tensor<[b, s], f32>) -> !graph.tensor<[b*s], f32>
    attributes {graph.symbols = {b = #sym.bounds<[8, 8]>, s = #sym.bounds<[1, 16]>}} {
  %y = graph.reshape %x : !graph.tensor<[b, s], f32> -> !graph.tensor<[b*s], f32>
  return %y : !graph.tensor<[b*s], f32>
}
