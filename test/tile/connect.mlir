// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse))' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse{connect=false}))' \
// RUN:   | FileCheck %s --check-prefix=OFF

// Attention is one program. The quotient by the sums, which are complete only behind all columns, moves behind the
// second product; nothing times infinity is still nothing.
// CHECK-LABEL: func.func @attention
// CHECK-SAME:    connected = 1
// CHECK:         %[[GROUP:.*]] = tile.group {
// CHECK:           %[[SCORES:.*]] = tile.compute [b, m, n, d]
// CHECK:           %[[LARGEST:.*]] = tile.compute [b, m, n] {{.*}} ins(%[[SCORES]]
// CHECK:             arith.maxnumf
// CHECK:           %[[WEIGHTS:.*]] = tile.compute [b, m, n] {{.*}} ins(%[[SCORES]] : {{.*}}, %[[LARGEST]]
// CHECK:             math.exp
// CHECK:           %[[SUMS:.*]] = tile.compute [b, m, n] {{.*}} ins(%[[WEIGHTS]]
// CHECK:           %[[FACTORS:.*]] = tile.compute [b, m] [parallel, parallel] ins(%[[SUMS]]
// CHECK:           %[[MIXED:.*]] = tile.compute [b, m, e, n] {{.*}} ins(%[[WEIGHTS]]
// CHECK:           %[[RESULT:.*]] = tile.compute [b, m, e] {{.*}} ins(%[[MIXED]] : {{.*}}, %[[FACTORS]]
// CHECK:             arith.mulf
// CHECK:             tile.size n
// CHECK:             arith.select
// CHECK:           tile.yield %[[RESULT]]
// CHECK:         return %[[GROUP]]
// OFF-LABEL:   func.func @attention
// OFF:           tile.group
// OFF:           tile.yield
// OFF:           tile.compute [b, m, e, n]
func.func @attention(%q: !graph.tensor<[b, m, d], f32>, %k: !graph.tensor<[b, n, d], f32>, %v: !graph.tensor<[b, n, e], f32>)
    -> !graph.tensor<[b, m, e], f32> {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, m, d], f32>, !graph.tensor<[b, n, d], f32>
  %p = graph.softmax %s axis 2 : !graph.tensor<[b, m, n], f32>
  %o = graph.contract %p, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, n], f32>, !graph.tensor<[b, n, e], f32>
  return %o : !graph.tensor<[b, m, e], f32>
}

// -----

// Weights of an attention that are a result are stored in any case.
// CHECK-LABEL: func.func @stored
// CHECK-NOT:     connected =
func.func @stored(%q: !graph.tensor<[b, m, d], f32>, %k: !graph.tensor<[b, n, d], f32>, %v: !graph.tensor<[b, n, e], f32>)
    -> (!graph.tensor<[b, m, e], f32>, !graph.tensor<[b, m, n], f32>) {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, m, d], f32>, !graph.tensor<[b, n, d], f32>
  %p = graph.softmax %s axis 2 : !graph.tensor<[b, m, n], f32>
  %o = graph.contract %p, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, n], f32>, !graph.tensor<[b, n, e], f32>
  return %o, %p : !graph.tensor<[b, m, e], f32>, !graph.tensor<[b, m, n], f32>
}

// -----

// A mean of all columns allows for no blocks of them: what is subtracted changes from block to block.
// CHECK-LABEL: func.func @centred
// CHECK-NOT:     connected =
func.func @centred(%q: !graph.tensor<[b, m, d], f32>, %k: !graph.tensor<[b, n, d], f32>, %v: !graph.tensor<[b, n, e], f32>)
    -> !graph.tensor<[b, m, e], f32> {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, m, d], f32>, !graph.tensor<[b, n, d], f32>
  %sum = graph.reduce add %s axes [2] : !graph.tensor<[b, m, n], f32>
  %sums = graph.broadcast %sum dims [0, 1] : !graph.tensor<[b, m], f32> -> !graph.tensor<[b, m, n], f32>
  %c = graph.binary sub %s, %sums : !graph.tensor<[b, m, n], f32>
  %x = graph.unary exp %c : !graph.tensor<[b, m, n], f32>
  %o = graph.contract %x, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, n], f32>, !graph.tensor<[b, n, e], f32>
  return %o : !graph.tensor<[b, m, e], f32>
}

// -----

// Few rows would not fill the vectors.
// CHECK-LABEL: func.func @row
// CHECK-NOT:     connected =
func.func @row(%q: !graph.tensor<[b, 1, d], f32>, %k: !graph.tensor<[b, n, d], f32>, %v: !graph.tensor<[b, n, e], f32>)
    -> !graph.tensor<[b, 1, e], f32> {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, 1, d], f32>, !graph.tensor<[b, n, d], f32>
  %p = graph.softmax %s axis 2 : !graph.tensor<[b, 1, n], f32>
  %o = graph.contract %p, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, 1, n], f32>, !graph.tensor<[b, n, e], f32>
  return %o : !graph.tensor<[b, 1, e], f32>
}
