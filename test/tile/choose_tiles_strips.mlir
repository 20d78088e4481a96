// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 strips=false" | FileCheck %s --check-prefix=OFF

// CHECK: strips = 1 : i64
// OFF-NOT: {{strips|most_depth}}

// Results whose columns are neighbours in memory.
// CHECK-LABEL: tile.program @wide
// CHECK-SAME: #tile.blocks<axis = 2, step = 256, dealt = false, most_depth = 128, body = [
// CHECK-SAME: #tile.blocks<axis = 1, step = 14, dealt = false, body = [#tile.blocks<axis = 2, step = 32, dealt = false
// AVX2-LABEL: tile.program @wide
// AVX2-SAME: #tile.blocks<axis = 2, step = 256, dealt = false, most_depth = 128, body = [
// AVX2-SAME: #tile.blocks<axis = 1, step = 6, dealt = false, body = [#tile.blocks<axis = 2, step = 16, dealt = false
!a = !graph.tensor<[s0, s2], f32>
!b = !graph.tensor<[s2, s1], f32>
!y = !graph.tensor<[s0, s1], f32>
tile.program @wide symbols [s0, s1, s2](%a: !a, %b: !b) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a, !b) -> !y
  tile.return %0 : !y
}

// Many steps of k, a single panel of columns, and a single block of rows.
// CHECK-LABEL: tile.program @deep
// CHECK-NOT: most_depth
!a512 = !graph.tensor<[s0, 512], f32>
!b512 = !graph.tensor<[512, s1], f32>
tile.program @deep symbols [s0, s1](%a: !a512, %b: !b512) -> (!y) {
  %0 = tile.compute [s0, s1, 512] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a512, !b512) -> !y
  tile.return %0 : !y
}

// CHECK-LABEL: tile.program @narrow
// CHECK-NOT: most_depth
!b32 = !graph.tensor<[s2, 32], f32>
!y32 = !graph.tensor<[s0, 32], f32>
tile.program @narrow symbols [s0, s2](%a: !a, %b: !b32) -> (!y32) {
  %0 = tile.compute [s0, 32, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a, !b32) -> !y32
  tile.return %0 : !y32
}

// CHECK-LABEL: tile.program @low
// CHECK-NOT: most_depth
!a14 = !graph.tensor<[14, s2], f32>
!y14 = !graph.tensor<[14, s1], f32>
tile.program @low symbols [s1, s2](%a: !a14, %b: !b) -> (!y14) {
  %0 = tile.compute [14, s1, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a14, !b) -> !y14
  tile.return %0 : !y14
}
