// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-differentiate{wrt=a,bias,k,v},graph-decompose,canonicalize,graph-reassociate-sums,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse))' \
// RUN:   | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-differentiate{wrt=a,bias,k,v},graph-decompose,canonicalize,graph-reassociate-sums,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse),tile-outline,tile-choose-tiles{target=x86-64-v4})' \
// RUN:   | FileCheck %s --check-prefix=TREE

// The gradient of queries leaves the backward pass twice: scaled, and as it is, of which the bias's gradient is the sum.
// CHECK-LABEL: func.func @shared
// CHECK:         tile.group {
// CHECK:         %[[BACKWARD:.*]]:4 = tile.group {
// CHECK:           %[[SUM:[0-9]+]] = tile.compute [b, m, d, m] {{.*}} ins(%{{[0-9]+}} : #{{[a-z0-9]+}}, %arg3
// CHECK:           %[[QUERIES:[0-9]+]] = tile.compute [b, m, d] [parallel, parallel, parallel] ins(%[[SUM]] : #{{[a-z0-9]+}}) {
// CHECK:           %[[SCALED:[0-9]+]] = tile.compute [b, m, d] {{.*}} ins(%[[SUM]] : {{.*}}, %arg1 : {{.*}}) {
// CHECK:             arith.mulf
// CHECK:           tile.yield %{{[0-9]+}}, %[[QUERIES]], %{{[0-9]+}}, %[[SCALED]]
// CHECK:         tile.compute [d, b, m] {{.*}} ins(%[[BACKWARD]]#1
// TREE-LABEL:  tile.program @p5
// TREE-SAME:     #tile.evaluate<computes = [8, 11],
func.func @shared(%a: !graph.tensor<[b, m, d], f32> {graph.name = "a"}, %c: !graph.tensor<[d], f32>,
                  %bias: !graph.tensor<[d], f32> {graph.name = "bias"}, %k: !graph.tensor<[b, m, d], f32> {graph.name = "k"},
                  %v: !graph.tensor<[b, m, e], f32> {graph.name = "v"}, %g: !graph.tensor<[b, m, e], f32>) -> !graph.tensor<[], f32> {
  %cs = graph.broadcast %c dims [2] : !graph.tensor<[d], f32> -> !graph.tensor<[b, m, d], f32>
  %bs = graph.broadcast %bias dims [2] : !graph.tensor<[d], f32> -> !graph.tensor<[b, m, d], f32>
  %scaled = graph.binary mul %a, %cs : !graph.tensor<[b, m, d], f32>
  %q = graph.binary add %scaled, %bs : !graph.tensor<[b, m, d], f32>
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, m, d], f32>, !graph.tensor<[b, m, d], f32>
  %p = graph.softmax %s axis 2 : !graph.tensor<[b, m, m], f32>
  %o = graph.contract %p, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, m], f32>, !graph.tensor<[b, m, e], f32>
  %y = graph.binary mul %o, %g : !graph.tensor<[b, m, e], f32>
  %loss = graph.reduce add %y axes [0, 1, 2] : !graph.tensor<[b, m, e], f32>
  return %loss : !graph.tensor<[], f32>
}
