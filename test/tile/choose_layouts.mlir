// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts)' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{enable=false})' \
// RUN:   | FileCheck %s --check-prefix=OFF

// A tied embedding is plain for the gather, and packed for the contraction; the transposition is merged with the
// packing.
// CHECK:       #[[PACK:.*]] = affine_map<(d0, d1, d2) -> (d0 * 32 + d2, d1)>
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[PACKED:[a-z0-9]*]]: !graph.tensor<[64, 50], f32, #tile.panels<axis = 1, width = 32>> {graph.weight = "embedding:packed"}
// CHECK-SAME:    %[[SCALE:[a-z0-9]*]]: !graph.tensor<[64], f32> {graph.weight = "variance:folded"}
// CHECK:         %[[PLAIN:.*]] = graph.weight "embedding"
// CHECK:         tile.compute [n, 64] [parallel, parallel] ins(%arg0 : #{{.*}}, %[[SCALE]] : #{{.*}}) reads(%[[PLAIN]])
// CHECK:         tile.compute [n, 50, 64] {{.*}} %[[PACKED]]
// CHECK-NOT:     rsqrt
// CHECK-LABEL: func.func @init
// CHECK-SAME:    (%[[W:.*]]: !graph.tensor<[50, 64], f32> {graph.weight = "embedding"}, %{{.*}}: !graph.tensor<[64], f32> {graph.weight = "variance"})
// CHECK-SAME:    -> (!graph.tensor<[2, 64, 32], f32> {graph.weight = "embedding:packed"}, !graph.tensor<[64], f32> {graph.weight = "variance:folded"}, !graph.tensor<[64, 64], f32> {graph.weight = "embedding:folded"})
// CHECK:         tile.compute [2, 64, 32] [parallel, parallel, parallel] ins(%[[W]] : #[[PACK]]) fill [0.000000e+00 : f32]
// CHECK:         rsqrt

// OFF-LABEL:   func.func @main
// OFF-NOT:       panels
func.func @main(%i: !graph.tensor<[n], i64>) -> !graph.tensor<[n, 50], f32> {
  %w = graph.weight "embedding" : !graph.tensor<[50, 64], f32>
  %x = graph.gather %w, %i axis 0 batch_dims 0 : !graph.tensor<[50, 64], f32>, !graph.tensor<[n], i64>
  %v = graph.weight "variance" : !graph.tensor<[64], f32>
  %r = graph.unary rsqrt %v : !graph.tensor<[64], f32>
  %rb = graph.broadcast %r dims [1] : !graph.tensor<[64], f32> -> !graph.tensor<[n, 64], f32>
  %y = graph.binary mul %x, %rb : !graph.tensor<[n, 64], f32>
  %t = graph.transpose %w [1, 0] : !graph.tensor<[50, 64], f32>
  %z = graph.contract %y, %t batch [] x [] contract [1] x [0] : !graph.tensor<[n, 64], f32>, !graph.tensor<[64, 50], f32>
  return %z : !graph.tensor<[n, 50], f32>
}

// Another function with the same packing uses the same result of @init.
// CHECK-LABEL: func.func @evaluate
// CHECK-SAME:    !graph.tensor<[64, 50], f32, #tile.panels<axis = 1, width = 32>> {graph.weight = "embedding:packed"})
func.func @evaluate(%x: !graph.tensor<[k, 64], f32>) -> !graph.tensor<[k, 50], f32> {
  %w = graph.weight "embedding" : !graph.tensor<[50, 64], f32>
  %t = graph.transpose %w [1, 0] : !graph.tensor<[50, 64], f32>
  %z = graph.contract %x, %t batch [] x [] contract [1] x [0] : !graph.tensor<[k, 64], f32>, !graph.tensor<[64, 50], f32>
  return %z : !graph.tensor<[k, 50], f32>
}

// A product of weights depends on weights alone, so neither is packed for it.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    !graph.tensor<[64, 64], f32> {graph.weight = "embedding:folded"})
func.func @product() -> !graph.tensor<[64, 64], f32> {
  %w = graph.weight "embedding" : !graph.tensor<[50, 64], f32>
  %z = graph.contract %w, %w batch [] x [] contract [0] x [0] : !graph.tensor<[50, 64], f32>, !graph.tensor<[50, 64], f32>
  return %z : !graph.tensor<[64, 64], f32>
}
