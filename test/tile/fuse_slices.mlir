// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-fuse))' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-fuse{slices=false}))' | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-fuse{columns=64}))' | FileCheck %s --check-prefix=WIDE
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-fuse),tile-outline,tile-choose-tiles{target=x86-64-v4 variants=false})' | FileCheck %s --check-prefix=PLAN

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d0, d1 + 32)>
#third = affine_map<(d0, d1) -> (d0, d1 + 64)>

// What reads three slices of 32 columns together is an epilogue, and so is what is read of the first one's result. A tile
// has a panel of each slice, whose numbers stay constants of the program.
// CHECK-LABEL: func.func @gates
// CHECK-SAME:    tile.counters = {epilogues = 3 : i64, groups = 1 : i64, sliced_epilogues = 1 : i64}
// CHECK:         tile.group
// CHECK-COUNT-4:   tile.compute
// CHECK:           tile.yield %{{.*}}, %{{.*}} : !graph.tensor<[n, 32], f32>, !graph.tensor<[n, 32], f32>
// OFF-LABEL:   func.func @gates
// OFF-SAME:      tile.counters = {epilogues = 1 : i64, groups = 2 : i64, maps = 1 : i64}
// PLAN:        tile.program @p0 symbols [s0, s1](%arg0: !graph.tensor<[s0, s1], f32>, %arg1: !graph.tensor<[s1, 96], f32>
// PLAN-SAME:     -> (!graph.tensor<[s0, 32], f32>, !graph.tensor<[s0, 32], f32>) attributes {plan = #tile.plan<#tile.tree<
// Slices that are no whole panels stay apart.
// WIDE-LABEL:  func.func @gates
// WIDE-SAME:     tile.counters = {epilogues = 1 : i64, groups = 2 : i64, maps = 1 : i64}
func.func @gates(%h: !graph.tensor<[n, 128], f32>, %w: !graph.tensor<[128, 96], f32>, %x: !graph.tensor<[n, 96], f32>, %c: !graph.tensor<[n, 32], f32>)
    -> (!graph.tensor<[n, 32], f32>, !graph.tensor<[n, 32], f32>) {
  %0 = tile.compute [n, 96, 128] [parallel, parallel, reduction] ins(%h : #a, %w : #b) init [0.0 : f32] {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %s, %m : f32
    tile.yield %r : f32
  } : (!graph.tensor<[n, 128], f32>, !graph.tensor<[128, 96], f32>) -> !graph.tensor<[n, 96], f32>
  %1 = tile.compute [n, 96] [parallel, parallel] ins(%0 : #id, %x : #id) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    tile.yield %r : f32
  } : (!graph.tensor<[n, 96], f32>, !graph.tensor<[n, 96], f32>) -> !graph.tensor<[n, 96], f32>
  %2 = tile.compute [n, 32] [parallel, parallel] ins(%1 : #id, %1 : #second, %c : #id) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = math.tanh %p : f32
    %u = arith.mulf %t, %q : f32
    %r = arith.addf %u, %o : f32
    tile.yield %r : f32
  } : (!graph.tensor<[n, 96], f32>, !graph.tensor<[n, 96], f32>, !graph.tensor<[n, 32], f32>) -> !graph.tensor<[n, 32], f32>
  %3 = tile.compute [n, 32] [parallel, parallel] ins(%2 : #id, %1 : #third) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    tile.yield %r : f32
  } : (!graph.tensor<[n, 32], f32>, !graph.tensor<[n, 96], f32>) -> !graph.tensor<[n, 32], f32>
  return %2, %3 : !graph.tensor<[n, 32], f32>, !graph.tensor<[n, 32], f32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d0, d1 + 32)>
#beside = affine_map<(d0, d1) -> (d0, d1 + 16)>

// A single slice, and columns that begin within one, stay apart.
// CHECK-LABEL: func.func @apart
// CHECK-SAME:    tile.counters = {groups = 1 : i64, maps = 1 : i64}
func.func @apart(%h: !graph.tensor<[n, 128], f32>, %w: !graph.tensor<[128, 64], f32>)
    -> (!graph.tensor<[n, 32], f32>, !graph.tensor<[n, 32], f32>) {
  %0 = tile.compute [n, 64, 128] [parallel, parallel, reduction] ins(%h : #a, %w : #b) init [0.0 : f32] {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %s, %m : f32
    tile.yield %r : f32
  } : (!graph.tensor<[n, 128], f32>, !graph.tensor<[128, 64], f32>) -> !graph.tensor<[n, 64], f32>
  %1 = tile.compute [n, 32] [parallel, parallel] ins(%0 : #second) {
  ^bb0(%p: f32):
    %t = math.tanh %p : f32
    tile.yield %t : f32
  } : (!graph.tensor<[n, 64], f32>) -> !graph.tensor<[n, 32], f32>
  %2 = tile.compute [n, 32] [parallel, parallel] ins(%1 : #id, %0 : #id, %0 : #beside) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %u = arith.mulf %p, %q : f32
    %r = arith.addf %u, %o : f32
    tile.yield %r : f32
  } : (!graph.tensor<[n, 32], f32>, !graph.tensor<[n, 64], f32>, !graph.tensor<[n, 64], f32>) -> !graph.tensor<[n, 32], f32>
  return %1, %2 : !graph.tensor<[n, 32], f32>, !graph.tensor<[n, 32], f32>
}

// -----

#row = affine_map<(d0, d1) -> (d1)>
#b = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0) -> (d0)>
#second = affine_map<(d0) -> (d0 + 32)>

// The columns of a single row that are not packed are summed in place.
// CHECK-LABEL: func.func @one_row
// CHECK-NOT:     tile.group
// CHECK:         return
func.func @one_row(%h: !graph.tensor<[128], f32>, %w: !graph.tensor<[128, 64], f32>) -> !graph.tensor<[32], f32> {
  %0 = tile.compute [64, 128] [parallel, reduction] ins(%h : #row, %w : #b) init [0.0 : f32] {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %s, %m : f32
    tile.yield %r : f32
  } : (!graph.tensor<[128], f32>, !graph.tensor<[128, 64], f32>) -> !graph.tensor<[64], f32>
  %1 = tile.compute [32] [parallel] ins(%0 : #id, %0 : #second) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    tile.yield %r : f32
  } : (!graph.tensor<[64], f32>, !graph.tensor<[64], f32>) -> !graph.tensor<[32], f32>
  return %1 : !graph.tensor<[32], f32>
}
