// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-guard-rows,graph-to-tile,tile-inline-producers,tile-fuse))' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-guard-rows,graph-to-tile,tile-inline-producers,tile-fuse{connect=false}))' \
// RUN:   | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-guard-rows,graph-to-tile,tile-inline-producers,tile-fuse{splits=true cache-bytes=4194304}))' \
// RUN:   | FileCheck %s --check-prefix=SPLIT

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

// Rows whose weights are no numbers give 0: the guard follows the second product, as the quotient does.
// CHECK-LABEL: func.func @guarded
// CHECK-SAME:    connected = 1
// CHECK:         tile.group {
// CHECK:           %[[WEIGHTS:.*]] = tile.compute [b, m, n] [parallel, parallel, parallel]
// CHECK:             math.exp
// CHECK:           %[[SUMS:.*]] = tile.compute [b, m, n] {{.*}} ins(%[[WEIGHTS]]
// CHECK:           %[[FACTORS:.*]] = tile.compute [b, m] [parallel, parallel] ins(%[[SUMS]]
// CHECK:           %[[MIXED:.*]] = tile.compute [b, m, e, n] {{.*}} ins(%[[WEIGHTS]]
// CHECK:           tile.compute [b, m, e] {{.*}} ins(%[[MIXED]] : {{.*}}, %[[FACTORS]] : {{.*}}, %[[SUMS]]
// CHECK:             %[[scaled:.*]] = arith.mulf
// CHECK:             arith.cmpf oge
// CHECK:             arith.select %{{.*}}, %{{.*}}, %[[scaled]]
func.func @guarded(%q: !graph.tensor<[b, m, d], f32>, %k: !graph.tensor<[b, n, d], f32>, %v: !graph.tensor<[b, n, e], f32>)
    -> !graph.tensor<[b, m, e], f32> {
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[b, m, n], f32>
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, m, d], f32>, !graph.tensor<[b, n, d], f32>
  %p = graph.softmax %s axis 2 : !graph.tensor<[b, m, n], f32>
  %hidden = graph.unary isnan %p : !graph.tensor<[b, m, n], f32>
  %w = graph.select %hidden, %zero, %p : !graph.tensor<[b, m, n], i1>, !graph.tensor<[b, m, n], f32>
  %o = graph.contract %w, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, n], f32>, !graph.tensor<[b, n, e], f32>
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

// -----

// The wide intermediate of two products of few steps stays in the cache; one that fits it, or comes from many steps, is
// stored, as is that of pictures, whose rows lie along memory. A matrix unit for parts multiplies 96 steps faster apart.
// CHECK-LABEL: func.func @block
// CHECK-SAME:    connected = 1
// CHECK:         %[[GROUP:.*]] = tile.group {
// CHECK:           %[[BETWEEN:.*]] = tile.compute [4000, 384, 96]
// CHECK:           %[[ACTIVE:.*]] = tile.compute [4000, 384] {{.*}} ins(%[[BETWEEN]]
// CHECK:           %[[SUM:.*]] = tile.compute [4000, 96, 384] {{.*}} ins(%[[ACTIVE]]
// CHECK:           %[[END:.*]] = tile.compute [4000, 96] {{.*}} ins(%[[SUM]]
// CHECK:           tile.yield %[[END]]
// OFF-LABEL:   func.func @block
// OFF-NOT:       connected =
// SPLIT-LABEL: func.func @block
// SPLIT-NOT:     connected =
// CHECK-LABEL: func.func @narrow
// CHECK-SAME:    connected = 1
// SPLIT-LABEL: func.func @narrow
// SPLIT-SAME:    connected = 1
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT:     connected =
// CHECK-LABEL: func.func @deep
// CHECK-NOT:     connected =
// CHECK-LABEL: func.func @picture
// CHECK-NOT:     connected =
func.func @block(%x: !graph.tensor<[4000, 96], f32>, %a: !graph.tensor<[96, 384], f32>, %b: !graph.tensor<[384, 96], f32>) -> !graph.tensor<[4000, 96], f32> {
  %h = graph.contract %x, %a batch [] x [] contract [1] x [0] : !graph.tensor<[4000, 96], f32>, !graph.tensor<[96, 384], f32>
  %g = graph.unary tanh %h : !graph.tensor<[4000, 384], f32>
  %y = graph.contract %g, %b batch [] x [] contract [1] x [0] : !graph.tensor<[4000, 384], f32>, !graph.tensor<[384, 96], f32>
  return %y : !graph.tensor<[4000, 96], f32>
}
func.func @narrow(%x: !graph.tensor<[n, 16000, 32], f32>, %a: !graph.tensor<[32, 128], f32>, %b: !graph.tensor<[128, 64], f32>) -> !graph.tensor<[n, 16000, 64], f32> {
  %h = graph.contract %x, %a batch [] x [] contract [2] x [0] : !graph.tensor<[n, 16000, 32], f32>, !graph.tensor<[32, 128], f32>
  %g = graph.unary tanh %h : !graph.tensor<[n, 16000, 128], f32>
  %y = graph.contract %g, %b batch [] x [] contract [2] x [0] : !graph.tensor<[n, 16000, 128], f32>, !graph.tensor<[128, 64], f32>
  return %y : !graph.tensor<[n, 16000, 64], f32>
}
func.func @few_rows(%x: !graph.tensor<[n, 64], f32>, %a: !graph.tensor<[64, 256], f32>, %b: !graph.tensor<[256, 64], f32>) -> !graph.tensor<[n, 64], f32> {
  %h = graph.contract %x, %a batch [] x [] contract [1] x [0] : !graph.tensor<[n, 64], f32>, !graph.tensor<[64, 256], f32>
  %g = graph.unary tanh %h : !graph.tensor<[n, 256], f32>
  %y = graph.contract %g, %b batch [] x [] contract [1] x [0] : !graph.tensor<[n, 256], f32>, !graph.tensor<[256, 64], f32>
  return %y : !graph.tensor<[n, 64], f32>
}
func.func @deep(%x: !graph.tensor<[4000, 160], f32>, %a: !graph.tensor<[160, 640], f32>, %b: !graph.tensor<[640, 160], f32>) -> !graph.tensor<[4000, 160], f32> {
  %h = graph.contract %x, %a batch [] x [] contract [1] x [0] : !graph.tensor<[4000, 160], f32>, !graph.tensor<[160, 640], f32>
  %g = graph.unary tanh %h : !graph.tensor<[4000, 640], f32>
  %y = graph.contract %g, %b batch [] x [] contract [1] x [0] : !graph.tensor<[4000, 640], f32>, !graph.tensor<[640, 160], f32>
  return %y : !graph.tensor<[4000, 160], f32>
}
func.func @picture(%x: !graph.tensor<[n, 32, 16000], f32>, %a: !graph.tensor<[128, 32], f32>, %b: !graph.tensor<[32, 128], f32>) -> !graph.tensor<[32, n, 16000], f32> {
  %h = graph.contract %a, %x batch [] x [] contract [1] x [1] : !graph.tensor<[128, 32], f32>, !graph.tensor<[n, 32, 16000], f32>
  %g = graph.unary tanh %h : !graph.tensor<[128, n, 16000], f32>
  %y = graph.contract %b, %g batch [] x [] contract [1] x [0] : !graph.tensor<[32, 128], f32>, !graph.tensor<[128, n, 16000], f32>
  return %y : !graph.tensor<[32, n, 16000], f32>
}
