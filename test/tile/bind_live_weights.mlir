// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts,tile-bind-live-weights)' | FileCheck %s

// What depends on live weights is made by @pack, what depends on other weights by @init. Both are read as they are
// stored. A live weight that is read as it is becomes the last input.

// CHECK:       module attributes {tile.counters = {{.*}}kept_weights = 2 : i64
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %arg0: !graph.tensor<[b, 64], f32> {graph.name = "x"}
// CHECK-SAME:    !graph.tensor<[2, 64, 32], f32> {graph.state = "live:packed"}
// CHECK-SAME:    #tile.panels<axis = 1, width = 32>> {graph.weight = "fixed:packed"}
// CHECK-SAME:    !graph.tensor<[48], f32> {graph.state = "scale:folded"}
// CHECK-SAME:    !graph.tensor<[64], f32> {graph.name = "bias"}
// CHECK:         tile.view {{.*}} <[2, 64, 32], f32> -> <[64, 48], f32, #tile.panels<axis = 1, width = 32>>
// CHECK-NOT:     graph.weight
// CHECK-LABEL: func.func @init
// CHECK-SAME:    {graph.weight = "fixed"}) -> (!graph.tensor<{{.*}}> {graph.weight = "fixed:packed"})
// CHECK-LABEL: func.func @pack
// CHECK-SAME:    !graph.tensor<[64, 48], f32> {graph.name = "live"}
// CHECK-SAME:    !graph.tensor<[48], f32> {graph.name = "scale"}
// CHECK-SAME:    -> ({{.*}} {graph.state = "live:packed"}, {{.*}} {graph.state = "scale:folded"})
func.func @main(%x: !graph.tensor<[b, 64], f32> {graph.name = "x"}) -> (!graph.tensor<[b, 48], f32> {graph.name = "y"}, !graph.tensor<[b, 64], f32> {graph.name = "z"}, !graph.tensor<[b, 64], f32> {graph.name = "v"}) {
  %live = graph.weight "live" live : !graph.tensor<[64, 48], f32>
  %scale = graph.weight "scale" live : !graph.tensor<[48], f32>
  %bias = graph.weight "bias" live : !graph.tensor<[64], f32>
  %fixed = graph.weight "fixed" : !graph.tensor<[64, 64], f32>
  %product = graph.contract %x, %live batch [] x [] contract [1] x [0] : !graph.tensor<[b, 64], f32>, !graph.tensor<[64, 48], f32>
  %root = graph.unary sqrt %scale : !graph.tensor<[48], f32>
  %roots = graph.broadcast %root dims [1] : !graph.tensor<[48], f32> -> !graph.tensor<[b, 48], f32>
  %y = graph.binary mul %product, %roots : !graph.tensor<[b, 48], f32>
  %z = graph.contract %x, %fixed batch [] x [] contract [1] x [0] : !graph.tensor<[b, 64], f32>, !graph.tensor<[64, 64], f32>
  %biases = graph.broadcast %bias dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[b, 64], f32>
  %v = graph.binary add %x, %biases : !graph.tensor<[b, 64], f32>
  return %y, %z, %v : !graph.tensor<[b, 48], f32>, !graph.tensor<[b, 64], f32>, !graph.tensor<[b, 64], f32>
}
