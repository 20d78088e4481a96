// Rows of seven elements are reduced one by one: vectors across them would be gathered. Every third element is loaded in
// vectors that are shuffled, and so are elements that lie across.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: tile.program @seven
// CHECK-SAME: #tile.rows<row_loops = 1
tile.program @seven symbols [s0](%x: !graph.tensor<[s0, 7], f32>) -> (!graph.tensor<[s0], f32>) {
  %0 = tile.compute [s0, 7] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 7], f32>) -> !graph.tensor<[s0], f32>
  tile.return %0 : !graph.tensor<[s0], f32>
}

// CHECK-LABEL: tile.program @three
// CHECK-SAME: #tile.map<
tile.program @three symbols [s0](%x: !graph.tensor<[s0, 3], f32>) -> (!graph.tensor<[s0], f32>) {
  %0 = tile.compute [s0, 3] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 3], f32>) -> !graph.tensor<[s0], f32>
  tile.return %0 : !graph.tensor<[s0], f32>
}

// CHECK-LABEL: tile.program @columns
// CHECK-SAME: #tile.map<
tile.program @columns symbols [s0](%x: !graph.tensor<[7, s0], f32>) -> (!graph.tensor<[s0], f32>) {
  %0 = tile.compute [s0, 7] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d1, d0)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[7, s0], f32>) -> !graph.tensor<[s0], f32>
  tile.return %0 : !graph.tensor<[s0], f32>
}
