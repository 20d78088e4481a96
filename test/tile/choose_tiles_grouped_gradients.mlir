// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s

// The gradient of the filters of two groups: their output channels are one dimension of the output's gradient.
// CHECK-LABEL: tile.program @groups
// CHECK-SAME:    plan = #tile.plan<#tile.weight_gradient<
tile.program @groups symbols [n](%x: !graph.tensor<[n, 2, 64, 56, 56], f32>, %dy: !graph.tensor<[256, n, 56, 56], f32>) -> (!graph.tensor<[64, 2, 128, 3, 3], f32>) {
  %0 = tile.compute [64, 2, 128, 3, 3, n, 56, 56] [parallel, parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d1, d0, d3 + d6 - 1, d4 + d7 - 1)>,
          %dy : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 128 + d2, d5, d6, d7)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 2, 64, 56, 56], f32>, !graph.tensor<[256, n, 56, 56], f32>) -> !graph.tensor<[64, 2, 128, 3, 3], f32>
  tile.return %0 : !graph.tensor<[64, 2, 128, 3, 3], f32>
}
