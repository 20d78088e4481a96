// RUN: freestone-opt %s --split-input-file --tile-coalesce-loops | FileCheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>

// Contiguous loops are merged; those that a bias indexes alone are not.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[FLAT:.*]] = graph.reshape %arg0 : {{.*}} -> <[b*s, 64], f32>
// CHECK:         %[[SUM:.*]] = tile.compute [b*s, 64] [parallel, parallel] ins(%[[FLAT]] : #{{.*}}, %arg1 : #{{.*}})
// CHECK:         graph.reshape %[[SUM]] : {{.*}} -> <[b, s, 64], f32>
func.func @rows(%x: !graph.tensor<[b, s, 64], f32>, %bias: !graph.tensor<[64], f32>) -> !graph.tensor<[b, s, 64], f32> {
  %r = tile.compute [b, s, 64] [parallel, parallel, parallel] ins(%x : #id, %bias : #last) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    tile.yield %s : f32
  } : (!graph.tensor<[b, s, 64], f32>, !graph.tensor<[64], f32>) -> !graph.tensor<[b, s, 64], f32>
  return %r : !graph.tensor<[b, s, 64], f32>
}

// -----

#row = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#sum = affine_map<(d0, d1, d2) -> (d0, d1)>

// In a group the loops of all members are merged together; reduction loops are not merged with parallel ones.
// CHECK-LABEL: func.func @group
// CHECK:         tile.group {
// CHECK:           %[[SUM:.*]] = tile.compute [b*s, 64] [parallel, reduction]
// CHECK:           tile.compute [b*s, 64] [parallel, parallel] ins(%{{.*}} : #{{.*}}, %[[SUM]] : #{{.*}})
// CHECK:           tile.yield %{{.*}} : !graph.tensor<[b*s, 64], f32>
func.func @group(%x: !graph.tensor<[b, s, 64], f32>) -> !graph.tensor<[b, s, 64], f32> {
  %r = tile.group {
    %t = tile.compute [b, s, 64] [parallel, parallel, reduction] ins(%x : #row) init [0.0 : f32] {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      tile.yield %s : f32
    } : (!graph.tensor<[b, s, 64], f32>) -> !graph.tensor<[b, s], f32>
    %d = tile.compute [b, s, 64] [parallel, parallel, parallel] ins(%x : #row, %t : #sum) {
    ^bb0(%a: f32, %c: f32):
      %s = arith.divf %a, %c : f32
      tile.yield %s : f32
    } : (!graph.tensor<[b, s, 64], f32>, !graph.tensor<[b, s], f32>) -> !graph.tensor<[b, s, 64], f32>
    tile.yield %d : !graph.tensor<[b, s, 64], f32>
  } : !graph.tensor<[b, s, 64], f32>
  return %r : !graph.tensor<[b, s, 64], f32>
}

// -----

#transposed = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @transposed
// CHECK-NOT:     graph.reshape
func.func @transposed(%x: !graph.tensor<[n, m], f32>) -> !graph.tensor<[m, n], f32> {
  %r = tile.compute [m, n] [parallel, parallel] ins(%x : #transposed) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n, m], f32>) -> !graph.tensor<[m, n], f32>
  return %r : !graph.tensor<[m, n], f32>
}

// -----

#shifted = affine_map<(d0, d1, d2) -> (d0 + 1, d1 - 2, d2)>

// Whole runs of pixels, from any row on: a fill is read for whole runs too.
// CHECK:       #[[RUNS:.*]] = affine_map<(d0, d1) -> (d0 + 1, d1 - 6)>
// CHECK-LABEL: func.func @shifted
// CHECK:         %[[FLAT:.*]] = graph.reshape %arg0 : {{.*}} -> <[9, 24], f32>
// CHECK:         tile.compute [8, 36] [parallel, parallel] ins(%[[FLAT]] : #[[RUNS]]) fill [1.000000e+00 : f32]
func.func @shifted(%x: !graph.tensor<[9, 8, 3], f32>) -> !graph.tensor<[8, 12, 3], f32> {
  %r = tile.compute [8, 12, 3] [parallel, parallel, parallel] ins(%x : #shifted) fill [1.0 : f32] {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[9, 8, 3], f32>) -> !graph.tensor<[8, 12, 3], f32>
  return %r : !graph.tensor<[8, 12, 3], f32>
}

// -----

#backwards = affine_map<(d0, d1, d2, d3) -> (d1, d0, -d2 + 2, -d3 + 4)>

// What goes backwards along both loops goes backwards along one.
// CHECK:       #[[BACK:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, -d2 + 14)>
// CHECK-LABEL: func.func @backwards
// CHECK:         %[[FLAT:.*]] = graph.reshape %arg0 : {{.*}} -> <[n, m, 15], bf16>
// CHECK:         tile.compute [m, n, 15] [parallel, parallel, parallel] ins(%[[FLAT]] : #[[BACK]])
func.func @backwards(%x: !graph.tensor<[n, m, 3, 5], bf16>) -> !graph.tensor<[m, n, 3, 5], bf16> {
  %r = tile.compute [m, n, 3, 5] [parallel, parallel, parallel, parallel] ins(%x : #backwards) {
  ^bb0(%a: bf16):
    tile.yield %a : bf16
  } : (!graph.tensor<[n, m, 3, 5], bf16>) -> !graph.tensor<[m, n, 3, 5], bf16>
  return %r : !graph.tensor<[m, n, 3, 5], bf16>
}

// -----

#x = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d3, d2)>

// Rows of connected products are the same axes; a column of the first is a step of the second.
// CHECK-LABEL: func.func @connected
// CHECK:         %[[FLAT:.*]] = graph.reshape %arg0 : {{.*}} -> <[14*n, 32], f32>
// CHECK:         tile.group {
// CHECK:           %[[BETWEEN:.*]] = tile.compute [14*n, 128, 32] [parallel, parallel, reduction] ins(%[[FLAT]]
// CHECK:           %[[SUM:.*]] = tile.compute [14*n, 24, 128] [parallel, parallel, reduction] ins(%[[BETWEEN]]
// CHECK:           tile.yield %[[SUM]]
func.func @connected(%x: !graph.tensor<[n, 14, 32], f32>, %a: !graph.tensor<[32, 128], f32>, %b: !graph.tensor<[128, 24], f32>) -> !graph.tensor<[n, 14, 24], f32> {
  %r = tile.group {
    %h = tile.compute [n, 14, 128, 32] [parallel, parallel, parallel, reduction] ins(%x : #x, %a : #w) init [0.0 : f32] {
    ^bb0(%l: f32, %m: f32, %s: f32):
      %p = arith.mulf %l, %m : f32
      %t = arith.addf %s, %p : f32
      tile.yield %t : f32
    } : (!graph.tensor<[n, 14, 32], f32>, !graph.tensor<[32, 128], f32>) -> !graph.tensor<[n, 14, 128], f32>
    %y = tile.compute [n, 14, 24, 128] [parallel, parallel, parallel, reduction] ins(%h : #x, %b : #w) init [0.0 : f32] {
    ^bb0(%l: f32, %m: f32, %s: f32):
      %p = arith.mulf %l, %m : f32
      %t = arith.addf %s, %p : f32
      tile.yield %t : f32
    } : (!graph.tensor<[n, 14, 128], f32>, !graph.tensor<[128, 24], f32>) -> !graph.tensor<[n, 14, 24], f32>
    tile.yield %y : !graph.tensor<[n, 14, 24], f32>
  } : !graph.tensor<[n, 14, 24], f32>
  return %r : !graph.tensor<[n, 14, 24], f32>
}

// -----

#twice = affine_map<(d0, d1, d2) -> (d0, d1)>

// Elements that are repeated along the last loop, a few times, are read at a quotient.
// CHECK-DAG:   #[[TWICE:.*]] = affine_map<(d0) -> (d0 floordiv 2)>
// CHECK-LABEL: func.func @repeated
// CHECK:         tile.compute [2*h*w] [parallel] ins(%{{.*}} : #[[TWICE]], %{{.*}} : #{{.*}})
func.func @repeated(%x: !graph.tensor<[h, w], f32>, %y: !graph.tensor<[h, w, 2], f32>) -> !graph.tensor<[h, w, 2], f32> {
  %r = tile.compute [h, w, 2] [parallel, parallel, parallel] ins(%x : #twice, %y : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[h, w], f32>, !graph.tensor<[h, w, 2], f32>) -> !graph.tensor<[h, w, 2], f32>
  return %r : !graph.tensor<[h, w, 2], f32>
}

// -----

#often = affine_map<(d0, d1, d2) -> (d0, d1)>

// More often, a vector would have few elements; and those of a row that is not the last dimension are apart in memory.
// CHECK-LABEL: func.func @often
// CHECK:         tile.compute [h*w, 8] [parallel, parallel]
// CHECK:         tile.compute [h, w, 2] [parallel, parallel, parallel]
func.func @often(%x: !graph.tensor<[h, w], f32>, %z: !graph.tensor<[w, h], f32>)
    -> (!graph.tensor<[h, w, 8], f32>, !graph.tensor<[h, w, 2], f32>) {
  %r = tile.compute [h, w, 8] [parallel, parallel, parallel] ins(%x : #often) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[h, w], f32>) -> !graph.tensor<[h, w, 8], f32>
  %s = tile.compute [h, w, 2] [parallel, parallel, parallel] ins(%z : affine_map<(d0, d1, d2) -> (d1, d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[w, h], f32>) -> !graph.tensor<[h, w, 2], f32>
  return %r, %s : !graph.tensor<[h, w, 8], f32>, !graph.tensor<[h, w, 2], f32>
}
