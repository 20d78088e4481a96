// RUN: freestone-opt %s --tile-choose-tiles='target=x86-64-v4' | FileCheck %s

// The weight gradient of one-dimensional signals copies each whole: only short ones, or scratch would be unbounded.
// CHECK-LABEL: tile.program @short
// CHECK-SAME: #tile.weight_gradient<
tile.program @short symbols [s0, s1, s2](%x: !graph.tensor<[s2, s0, 2048], f32>, %g: !graph.tensor<[s2, s1, 2048], f32>)
    -> (!graph.tensor<[s1, s0, 3], f32>) {
  %0 = tile.compute [s1, s0, 3, s2, 2048] [parallel, parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, d2 + d4 - 1)>,
          %g : affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d4)>)
      fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s2, s0, 2048], f32>, !graph.tensor<[s2, s1, 2048], f32>) -> !graph.tensor<[s1, s0, 3], f32>
  tile.return %0 : !graph.tensor<[s1, s0, 3], f32>
}

// CHECK-LABEL: tile.program @any
// CHECK-SAME: #tile.tree<
tile.program @any symbols [s0, s1, s2, s3](%x: !graph.tensor<[s2, s0, s3], f32>, %g: !graph.tensor<[s2, s1, s3], f32>)
    -> (!graph.tensor<[s1, s0, 3], f32>) {
  %0 = tile.compute [s1, s0, 3, s2, s3] [parallel, parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, d2 + d4 - 1)>,
          %g : affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d4)>)
      fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s2, s0, s3], f32>, !graph.tensor<[s2, s1, s3], f32>) -> !graph.tensor<[s1, s0, 3], f32>
  tile.return %0 : !graph.tensor<[s1, s0, 3], f32>
}
