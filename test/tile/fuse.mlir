// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse))' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse{epilogues=false rows=false maps=false siblings=false}))' \
// RUN:   | FileCheck %s --check-prefix=OFF

// A contraction with its epilogue.
// CHECK-LABEL: func.func @epilogue
// CHECK:         %[[GROUP:.*]] = tile.group {
// CHECK:           %[[PRODUCT:.*]] = tile.compute [m, n, k]
// CHECK:           %[[RESULT:.*]] = tile.compute [m, n] [parallel, parallel] ins(%[[PRODUCT]]
// CHECK:           tile.yield %[[RESULT]] : !graph.tensor<[m, n], f32>
// CHECK:         return %[[GROUP]]
// OFF-NOT:     tile.group
func.func @epilogue(%x: !graph.tensor<[m, k], f32>, %w: !graph.tensor<[k, n], f32>, %r: !graph.tensor<[m, n], f32>)
    -> !graph.tensor<[m, n], f32> {
  %p = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[m, k], f32>, !graph.tensor<[k, n], f32>
  %s = graph.binary add %p, %r : !graph.tensor<[m, n], f32>
  return %s : !graph.tensor<[m, n], f32>
}

// -----

// What a contraction's epilogue reads besides is no part of it.
// CHECK-LABEL: func.func @beside
// CHECK:         tile.group {
// CHECK-NEXT:      tile.compute [m, n, k]
// CHECK-NOT:       math.exp
// CHECK:           math.tanh
// CHECK:         tile.group {
// CHECK-NEXT:      tile.compute [m, n] [parallel, parallel]
// CHECK:           math.exp
// CHECK:           arith.mulf
// CHECK:           arith.subf
// CHECK-NOT:     tile.group
// OFF-NOT:     tile.group
func.func @beside(%x: !graph.tensor<[m, k], f32>, %w: !graph.tensor<[k, n], f32>, %r: !graph.tensor<[m, n], f32>)
    -> (!graph.tensor<[m, n], f32>, !graph.tensor<[m, n], f32>) {
  %z = graph.unary exp %r : !graph.tensor<[m, n], f32>
  %p = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[m, k], f32>, !graph.tensor<[k, n], f32>
  %t = graph.unary tanh %p : !graph.tensor<[m, n], f32>
  %s = graph.binary mul %z, %t : !graph.tensor<[m, n], f32>
  %u = graph.binary sub %z, %t : !graph.tensor<[m, n], f32>
  return %s, %u : !graph.tensor<[m, n], f32>, !graph.tensor<[m, n], f32>
}

// -----

// Softmax is one program over rows.
// CHECK-LABEL: func.func @softmax
// CHECK:         tile.group {
// CHECK:           arith.maxnumf
// CHECK:           math.exp
// CHECK:           arith.addf
// CHECK:           arith.divf
// CHECK:           arith.mulf
// CHECK:           tile.yield %{{.*}} : !graph.tensor<[b, s], f32>
// CHECK-NOT:     tile.group
func.func @softmax(%x: !graph.tensor<[b, s], f32>) -> !graph.tensor<[b, s], f32> {
  %y = graph.softmax %x axis 1 : !graph.tensor<[b, s], f32>
  return %y : !graph.tensor<[b, s], f32>
}

// -----

// So is a norm written out by an exporter; a result with other users leaves the group.
// CHECK-LABEL: func.func @norm
// CHECK:         %[[GROUP:.*]]:2 = tile.group {
// CHECK:           tile.yield %{{.*}}, %{{.*}} : !graph.tensor<[b], f32>, !graph.tensor<[b, c], f32>
// CHECK:         return %[[GROUP]]#1, %[[GROUP]]#0
func.func @norm(%x: !graph.tensor<[b, c], f32>) -> (!graph.tensor<[b, c], f32>, !graph.tensor<[b], f32>) {
  %s = graph.reduce add %x axes [1] : !graph.tensor<[b, c], f32>
  %count = graph.sizes [c] scalar
  %n = graph.cast %count to f32 : !graph.tensor<[], i64>
  %nb = graph.broadcast %n dims [] : !graph.tensor<[], f32> -> !graph.tensor<[b], f32>
  %mean = graph.binary div %s, %nb : !graph.tensor<[b], f32>
  %mb = graph.broadcast %mean dims [0] : !graph.tensor<[b], f32> -> !graph.tensor<[b, c], f32>
  %d = graph.binary sub %x, %mb : !graph.tensor<[b, c], f32>
  %two = graph.constant dense<2.0> : tensor<f32> -> !graph.tensor<[b, c], f32>
  %sq = graph.binary pow %d, %two : !graph.tensor<[b, c], f32>
  %v = graph.reduce add %sq axes [1] : !graph.tensor<[b, c], f32>
  %r = graph.unary rsqrt %v : !graph.tensor<[b], f32>
  %rb = graph.broadcast %r dims [0] : !graph.tensor<[b], f32> -> !graph.tensor<[b, c], f32>
  %y = graph.binary mul %d, %rb : !graph.tensor<[b, c], f32>
  return %y, %mean : !graph.tensor<[b, c], f32>, !graph.tensor<[b], f32>
}

// -----

// A value used on both sides of a service can't be fused with it: a cycle.
// CHECK-LABEL: func.func @cycle
// CHECK:         %[[A:.*]]:2 = tile.group {
// CHECK:           math.exp
// CHECK:         %[[LIBRARY:.*]] = tile.library "sort"(%[[A]]#0)
// CHECK:         tile.compute [n] [parallel] ins(%{{.*}} : #{{.*}}, %[[LIBRARY]] : #{{.*}})
func.func @cycle(%x: !graph.tensor<[n], f32>, %z: !graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
  %e = graph.unary exp %x : !graph.tensor<[n], f32>
  %t = graph.unary tanh %e : !graph.tensor<[n], f32>
  %u = graph.binary add %e, %t : !graph.tensor<[n], f32>
  %l = tile.library "sort"(%e) : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %y = graph.binary mul %e, %l : !graph.tensor<[n], f32>
  return %y, %u : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}

// -----

// Reductions of the same elements read them once.
// CHECK-LABEL: func.func @siblings
// CHECK-SAME:    siblings = 1 : i64
// CHECK:         tile.group {
// CHECK:           arith.addf
// CHECK:           arith.mulf
// CHECK:           tile.yield %{{.*}}, %{{.*}} : !graph.tensor<[c], f32>, !graph.tensor<[c], f32>
// CHECK-NOT:     tile.compute
// OFF-LABEL:   func.func @siblings
// OFF-NOT:     tile.group
func.func @siblings(%g: !graph.tensor<[n, c], f32>, %x: !graph.tensor<[n, c], f32>) -> (!graph.tensor<[c], f32>, !graph.tensor<[c], f32>) {
  %s = graph.reduce add %g axes [0] : !graph.tensor<[n, c], f32>
  %p = graph.binary mul %g, %x : !graph.tensor<[n, c], f32>
  %t = graph.reduce add %p axes [0] : !graph.tensor<[n, c], f32>
  return %s, %t : !graph.tensor<[c], f32>, !graph.tensor<[c], f32>
}

// -----

// Not if one depends on the other.
// CHECK-LABEL: func.func @in_turn
// CHECK-NOT:     tile.group
func.func @in_turn(%x: !graph.tensor<[n, c], f32>) -> !graph.tensor<[c], f32> {
  %s = graph.reduce add %x axes [0] : !graph.tensor<[n, c], f32>
  %l = tile.library "scan"(%s) : (!graph.tensor<[c], f32>) -> !graph.tensor<[c], f32>
  %b = graph.broadcast %l dims [1] : !graph.tensor<[c], f32> -> !graph.tensor<[n, c], f32>
  %p = graph.binary mul %b, %x : !graph.tensor<[n, c], f32>
  %t = graph.reduce add %p axes [0] : !graph.tensor<[n, c], f32>
  return %t : !graph.tensor<[c], f32>
}

// -----

// A scalar of one tensor does not fuse it with another's loops: without rows there would be a single tile for one
// worker.
// CHECK-LABEL: func.func @one_tile
// CHECK-NOT:     tile.group
func.func @one_tile(%x: !graph.tensor<[64], f32>, %p: !graph.tensor<[64], f32>) -> !graph.tensor<[64], f32> {
  %s = graph.reduce add %x axes [0] : !graph.tensor<[64], f32>
  %b = graph.broadcast %s dims [] : !graph.tensor<[], f32> -> !graph.tensor<[64], f32>
  %y = graph.binary mul %p, %b : !graph.tensor<[64], f32>
  return %y : !graph.tensor<[64], f32>
}

// -----

// A weighted sum over rows that others read is one of their passes, whoever gives the rows.
// CHECK-LABEL: func.func @weighted
// CHECK:         tile.group {
// CHECK:           tile.compute [b, c] [parallel, reduction]
// CHECK:           tile.compute [b, c] [parallel, parallel]
// CHECK-NOT:     tile.compute
// CHECK:         return
func.func @weighted(%g: !graph.tensor<[b, c], f32>, %w: !graph.tensor<[c], f32>) -> !graph.tensor<[b, c], f32> {
  %wb = graph.broadcast %w dims [1] : !graph.tensor<[c], f32> -> !graph.tensor<[b, c], f32>
  %p = graph.binary mul %g, %wb : !graph.tensor<[b, c], f32>
  %s = graph.reduce add %p axes [1] : !graph.tensor<[b, c], f32>
  %sb = graph.broadcast %s dims [0] : !graph.tensor<[b], f32> -> !graph.tensor<[b, c], f32>
  %y = graph.binary sub %g, %sb : !graph.tensor<[b, c], f32>
  return %y : !graph.tensor<[b, c], f32>
}

// -----

// A group stands where its last member was, and what was between reads it behind. What does not depend on it stays
// behind that, as it was: it would only live longer.
// CHECK-LABEL: func.func @in_order
// CHECK:         tile.group
// CHECK:           math.tanh
// CHECK:         tile.compute [n, m] [parallel, reduction]
// CHECK:         graph.barrier
// CHECK:         math.exp
// CHECK:         return
func.func @in_order(%x: !graph.tensor<[m, 16], f32>, %w: !graph.tensor<[16, n], f32>, %v: !graph.tensor<[k], f32>)
    -> (!graph.tensor<[m, n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[k], f32>) {
  %p = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[m, 16], f32>, !graph.tensor<[16, n], f32>
  %s = graph.reduce add %p axes [0] : !graph.tensor<[m, n], f32>
  %t = graph.unary tanh %p : !graph.tensor<[m, n], f32>
  %b = graph.barrier %v : !graph.tensor<[k], f32>
  %e = graph.unary exp %b : !graph.tensor<[k], f32>
  return %t, %s, %e : !graph.tensor<[m, n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[k], f32>
}
