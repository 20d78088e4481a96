// RUN: freestone-opt %s --split-input-file --tile-split-reductions=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --split-input-file --tile-split-reductions="enable=false target=x86-64-v4" | FileCheck %s --check-prefix=OFF

// OFF-NOT: split_reductions
// OFF-NOT: graph.reshape

#x = affine_map<(d0) -> (d0)>

// A sum of one result is one of 32 parts, whose operand is reshaped, and that of the 32.
// CHECK-LABEL: func.func @all
// CHECK-SAME:    split_reductions = 1
// CHECK:         %[[PARTS:.*]] = graph.reshape %arg0 : <[4000000], f32> -> <[32, 125000], f32>
// CHECK:         %[[PARTIAL:.*]] = tile.compute [32, 125000] [parallel, reduction] ins(%[[PARTS]] : #{{.*}}) init [-0.000000e+00 : f32]
// CHECK:           arith.mulf
// CHECK:         %[[TOTAL:.*]] = tile.compute [32] [reduction] ins(%[[PARTIAL]] : #{{.*}}) init [0.000000e+00 : f32]
// CHECK-NOT:       arith.mulf
// CHECK:         return %[[TOTAL]]
func.func @all(%x: !graph.tensor<[4000000], f32>) -> !graph.tensor<[], f32> {
  %r = tile.compute [4000000] [reduction] ins(%x : #x) init [0.0 : f32] {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %acc, %q : f32
    tile.yield %s : f32
  } : (!graph.tensor<[4000000], f32>) -> !graph.tensor<[], f32>
  return %r : !graph.tensor<[], f32>
}

// -----

#column = affine_map<(d0, d1) -> (d1, d0)>

// 100003 rows are 32 times 3125, and three.
// CHECK-DAG:   #[[AT:.*]] = affine_map<(d0, d1, d2) -> (d0 * 3125 + d2, d1)>
// CHECK-DAG:   #[[LEFT:.*]] = affine_map<(d0, d1) -> (d1 + 100000, d0)>
// CHECK-LABEL: func.func @columns
// CHECK:         %[[PARTIAL:.*]] = tile.compute [32, 64, 3125] [parallel, parallel, reduction] ins(%arg0 : #[[AT]])
// CHECK:         %[[GROUP:.*]] = tile.group {
// CHECK:           %[[REST:.*]] = tile.compute [64, 3] [parallel, reduction] ins(%arg0 : #[[LEFT]]) init [0.000000e+00 : f32]
// CHECK:           %[[TOTAL:.*]] = tile.compute [64, 32] [parallel, reduction] ins(%[[PARTIAL]] : #{{.*}}) init [-0.000000e+00 : f32]
// CHECK:           %[[SUM:.*]] = tile.compute [64] [parallel] ins(%[[REST]] : #{{.*}}, %[[TOTAL]] : #{{.*}})
// CHECK:           tile.yield %[[SUM]]
// CHECK:         return %[[GROUP]]
func.func @columns(%x: !graph.tensor<[100003, 64], f32>) -> !graph.tensor<[64], f32> {
  %r = tile.compute [64, 100003] [parallel, reduction] ins(%x : #column) init [0.0 : f32] {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[100003, 64], f32>) -> !graph.tensor<[64], f32>
  return %r : !graph.tensor<[64], f32>
}

// -----

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// Partial products of matrices are contractions, as many as make enough tiles; the epilogue goes with their sum.
// CHECK-LABEL: func.func @contraction
// CHECK-DAG:     %[[X:.*]] = graph.reshape %arg0 : {{.*}} -> <[64, [[PARTS:[0-9]+]], [[STEPS:[0-9]+]]], f32>
// CHECK-DAG:     %[[W:.*]] = graph.reshape %arg1 : {{.*}} -> <{{\[}}[[PARTS]], [[STEPS]], 64], f32>
// CHECK:         %[[PARTIAL:.*]] = tile.compute {{\[}}[[PARTS]], 64, 64, [[STEPS]]] [parallel, parallel, parallel, reduction] ins(%[[X]] : #{{.*}}, %[[W]] : #{{.*}})
// CHECK:         tile.group {
// CHECK:           %[[TOTAL:.*]] = tile.compute [64, 64, [[PARTS]]] [parallel, parallel, reduction] ins(%[[PARTIAL]] : #{{.*}})
// CHECK:           tile.compute [64, 64] [parallel, parallel] ins(%[[TOTAL]] : #{{.*}})
// CHECK:             arith.negf
func.func @contraction(%x: !graph.tensor<[64, 1000000], f32>, %w: !graph.tensor<[1000000, 64], f32>) -> !graph.tensor<[64, 64], f32> {
  %r = tile.group {
    %c = tile.compute [64, 64, 1000000] [parallel, parallel, reduction] ins(%x : #x, %w : #w) init [0.0 : f32] {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      tile.yield %s : f32
    } : (!graph.tensor<[64, 1000000], f32>, !graph.tensor<[1000000, 64], f32>) -> !graph.tensor<[64, 64], f32>
    %n = tile.compute [64, 64] [parallel, parallel] ins(%c : #id) {
    ^bb0(%a: f32):
      %s = arith.negf %a : f32
      tile.yield %s : f32
    } : (!graph.tensor<[64, 64], f32>) -> !graph.tensor<[64, 64], f32>
    tile.yield %n : !graph.tensor<[64, 64], f32>
  } : !graph.tensor<[64, 64], f32>
  return %r : !graph.tensor<[64, 64], f32>
}

// -----

#x = affine_map<(d0, d1, d2) -> (d2, d0)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>

// Of a depth that only a run brings, so many parts as are worth it then; what no part has goes through the micro-kernel too.
// CHECK-LABEL: func.func @symbolic
// CHECK:         %[[PARTIAL:.*]] = tile.compute [min((b*s) floordiv 1024, 31) + 1, 32, 64, (b*s) floordiv (min((b*s) floordiv 1024, 31) + 1)]
// CHECK:         %[[TOTAL:.*]] = tile.compute [32, 64, min((b*s) floordiv 1024, 31) + 1] [parallel, parallel, reduction] ins(%[[PARTIAL]] : #{{.*}})
// CHECK:         tile.group {
// CHECK:           %[[REST:.*]] = tile.compute [32, 64, b*s - {{.*}}] [parallel, parallel, reduction] ins(%arg0 : #{{.*}}, %arg1 : #{{.*}})
// CHECK:           tile.compute [32, 64] [parallel, parallel] ins(%[[REST]] : #{{.*}}, %[[TOTAL]] : #{{.*}})
func.func @symbolic(%x: !graph.tensor<[b*s, 32], f32>, %w: !graph.tensor<[b*s, 64], f32>) -> !graph.tensor<[32, 64], f32> {
  %c = tile.compute [32, 64, b*s] [parallel, parallel, reduction] ins(%x : #x, %w : #w) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[b*s, 32], f32>, !graph.tensor<[b*s, 64], f32>) -> !graph.tensor<[32, 64], f32>
  return %c : !graph.tensor<[32, 64], f32>
}

// -----

#x = affine_map<(d0) -> (d0)>

// The best of every part, at its place among all, is offered as an element is.
// CHECK-LABEL: func.func @position
// CHECK:         %[[PARTIAL:.*]]:2 = tile.compute [32, 31250] [parallel, reduction]
// CHECK:           %[[PART:.*]] = tile.index 0
// CHECK:           %[[START:.*]] = arith.muli %{{.*}}, %[[PART]]
// CHECK:           %[[STEP:.*]] = tile.index 1
// CHECK:           arith.addi %[[START]], %[[STEP]]
// CHECK:         tile.compute [32] [reduction] ins(%[[PARTIAL]]#0 : #{{.*}}, %[[PARTIAL]]#1 : #{{.*}}) init [0xFF800000 : f32, -1]
// CHECK:         ^bb0(%[[VALUE:.*]]: f32, %[[AT:.*]]: i64, %[[MOST:.*]]: f32, %[[PLACE:.*]]: i64):
// CHECK-NOT:       tile.index
// CHECK:           arith.select %[[TAKES:.*]], %[[VALUE]], %[[MOST]]
// CHECK:           arith.select %[[TAKES]], %[[AT]], %[[PLACE]]
func.func @position(%x: !graph.tensor<[1000000], f32>) -> !graph.tensor<[], i64> {
  %m, %i = tile.compute [1000000] [reduction] ins(%x : #x) init [0xFF800000 : f32, -1] {
  ^bb0(%a: f32, %most: f32, %place: i64):
    %d0 = tile.index 0 : index
    %at = arith.index_cast %d0 : index to i64
    %more = arith.cmpf ogt, %a, %most : f32
    %same = arith.cmpf oeq, %a, %most : f32
    %before = arith.cmpi slt, %at, %place : i64
    %first = arith.andi %same, %before : i1
    %takes = arith.ori %more, %first : i1
    %v = arith.select %takes, %a, %most : f32
    %p = arith.select %takes, %at, %place : i64
    tile.yield %v, %p : f32, i64
  } : (!graph.tensor<[1000000], f32>) -> (!graph.tensor<[], f32>, !graph.tensor<[], i64>)
  return %i : !graph.tensor<[], i64>
}

// -----

#x = affine_map<(d0) -> (d0)>
#number = affine_map<(d0) -> ()>
#none = affine_map<() -> ()>

// The second sum is over what the first one came to: three stages.
// CHECK-LABEL: func.func @variance
// CHECK-SAME:    split_reductions = 2
// CHECK:         %[[PARTIAL:.*]] = tile.compute [32, 31250] [parallel, reduction]
// CHECK:         %[[MEAN:.*]] = tile.group {
// CHECK:           tile.compute [32] [reduction] ins(%[[PARTIAL]] : #{{.*}})
// CHECK:           tile.compute [] [] ins
// CHECK:         %[[SQUARES:.*]] = tile.compute [32, 31250] [parallel, reduction] ins(%{{.*}} : #{{.*}}, %[[MEAN]] : #{{.*}})
// CHECK:         tile.compute [32] [reduction] ins(%[[SQUARES]] : #{{.*}})
func.func @variance(%x: !graph.tensor<[1000000], f32>) -> !graph.tensor<[], f32> {
  %r = tile.group {
    %t = tile.compute [1000000] [reduction] ins(%x : #x) init [0.0 : f32] {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      tile.yield %s : f32
    } : (!graph.tensor<[1000000], f32>) -> !graph.tensor<[], f32>
    %mean = tile.compute [] [] ins(%t : #none) {
    ^bb0(%a: f32):
      %n = arith.constant 1.0e-6 : f32
      %m = arith.mulf %a, %n : f32
      tile.yield %m : f32
    } : (!graph.tensor<[], f32>) -> !graph.tensor<[], f32>
    %v = tile.compute [1000000] [reduction] ins(%x : #x, %mean : #number) init [0.0 : f32] {
    ^bb0(%a: f32, %m: f32, %acc: f32):
      %d = arith.subf %a, %m : f32
      %q = arith.mulf %d, %d : f32
      %s = arith.addf %acc, %q : f32
      tile.yield %s : f32
    } : (!graph.tensor<[1000000], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
    tile.yield %v : !graph.tensor<[], f32>
  } : !graph.tensor<[], f32>
  return %r : !graph.tensor<[], f32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What keeps the elements of a row in the cache stays whole, and so does what is tiles enough, or too short.
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     split_reductions
// CHECK-NOT:     graph.reshape
func.func @whole(%x: !graph.tensor<[4, 50000], f32>, %rows: !graph.tensor<[32, 50000], f32>, %short: !graph.tensor<[1, 9000], f32>)
    -> (!graph.tensor<[4, 50000], f32>, !graph.tensor<[32], f32>, !graph.tensor<[1], f32>) {
  %r = tile.group {
    %t = tile.compute [4, 50000] [parallel, reduction] ins(%x : #id) init [0.0 : f32] {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      tile.yield %s : f32
    } : (!graph.tensor<[4, 50000], f32>) -> !graph.tensor<[4], f32>
    %n = tile.compute [4, 50000] [parallel, parallel] ins(%x : #id, %t : #row) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.divf %a, %b : f32
      tile.yield %s : f32
    } : (!graph.tensor<[4, 50000], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[4, 50000], f32>
    tile.yield %n : !graph.tensor<[4, 50000], f32>
  } : !graph.tensor<[4, 50000], f32>
  %u = tile.compute [32, 50000] [parallel, reduction] ins(%rows : #id) init [0.0 : f32] {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[32, 50000], f32>) -> !graph.tensor<[32], f32>
  %v = tile.compute [1, 9000] [parallel, reduction] ins(%short : #id) init [0.0 : f32] {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[1, 9000], f32>) -> !graph.tensor<[1], f32>
  return %r, %u, %v : !graph.tensor<[4, 50000], f32>, !graph.tensor<[32], f32>, !graph.tensor<[1], f32>
}

// -----

#x = affine_map<(d0, d1, d2) -> (d2, d0)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>

// At its typical size, a batch alone gives too few parts.
// CHECK-LABEL: func.func @batch
// CHECK-NOT:     split_reductions
// CHECK:         tile.compute [32, 64, n] [parallel, parallel, reduction]
func.func @batch(%x: !graph.tensor<[n, 32], f32>, %w: !graph.tensor<[n, 64], f32>) -> !graph.tensor<[32, 64], f32> {
  %c = tile.compute [32, 64, n] [parallel, parallel, reduction] ins(%x : #x, %w : #w) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 32], f32>, !graph.tensor<[n, 64], f32>) -> !graph.tensor<[32, 64], f32>
  return %c : !graph.tensor<[32, 64], f32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d2, d1)>
!x = !graph.tensor<[16, 1100], ui8>
!words = !graph.tensor<[1100, 64], i8, #tile.words<of = 4>>
!y = !graph.tensor<[16, 64], i32>

// Each part of a sum by a weight in words has whole groups of 64 steps.
// CHECK-DAG:   #[[AT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 512 + d3, d2)>
// CHECK-DAG:   #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d2 + 1024, d1)>
// CHECK-LABEL: func.func @words
// CHECK:         tile.compute [2, 16, 64, 512] {{.*}}, %arg1 : #[[AT]])
// CHECK:         tile.compute [16, 64, 76] {{.*}}, %arg1 : #[[LEFT]])
func.func @words(%x: !x, %w: !words) -> !y {
  %r = tile.compute [16, 64, 1100] [parallel, parallel, reduction] ins(%x : #rows, %w : #columns) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %l = arith.extui %a : i8 to i32
    %m = arith.extsi %b : i8 to i32
    %p = arith.muli %l, %m : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!x, !words) -> !y
  return %r : !y
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d2, d1)>
!strips = !graph.tensor<[16, 1100], i8, #tile.strips<of = 4>>
!x = !graph.tensor<[1100, 64], ui8>
!y = !graph.tensor<[16, 64], i32>

// Strips are not divided.
// CHECK-LABEL: func.func @strips
// CHECK:         tile.compute [16, 64, 1100]
func.func @strips(%w: !strips, %x: !x) -> !y {
  %r = tile.compute [16, 64, 1100] [parallel, parallel, reduction] ins(%w : #rows, %x : #columns) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %l = arith.extsi %a : i8 to i32
    %m = arith.extui %b : i8 to i32
    %p = arith.muli %l, %m : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!strips, !x) -> !y
  return %r : !y
}
