// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-outline)' | FileCheck %s

// Reductions of the same rows use the loops that the contraction names.
// CHECK-LABEL: tile.program @p0 symbols [s0, s1](%{{.*}}: !graph.tensor<[s0, s1], f32>, %{{.*}}: !graph.tensor<[s1], f32>)
// CHECK-COUNT-2: tile.compute [s0, s1] [parallel, reduction]
func.func @rows(%x: !graph.tensor<[n, 5], f32>, %w: !graph.tensor<[5], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
  %r:2 = tile.group {
    %weighted = tile.compute [n, 5] [parallel, reduction]
        ins(%x : affine_map<(d0, d1) -> (d0, d1)>, %w : affine_map<(d0, d1) -> (d1)>) init [0.0 : f32] {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      tile.yield %s : f32
    } : (!graph.tensor<[n, 5], f32>, !graph.tensor<[5], f32>) -> !graph.tensor<[n], f32>
    %plain = tile.compute [n, 5] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
    ^bb0(%a: f32, %sum: f32):
      %s = arith.addf %sum, %a : f32
      tile.yield %s : f32
    } : (!graph.tensor<[n, 5], f32>) -> !graph.tensor<[n], f32>
    tile.yield %weighted, %plain : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
  } : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
  return %r#0, %r#1 : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}

// The pooling of a result of 8 by 8, with 2 channels, has its own sizes where they differ, and keeps its 2 by 2 pixels;
// so have later computes.
// CHECK-LABEL: tile.program @p1 symbols [s0, s1, s2, s3, s4, s5, s6, s7, s8]
// CHECK:         tile.compute [s0, s1, s2, s3, s4, 3, 3]
// CHECK:         tile.compute [s0, s1, s7, s8, 2, 2]
// CHECK:         tile.compute [s0, s1, s7, s8] [parallel, parallel, parallel, parallel]
// CHECK:         tile.call @p1({{.*}}) [s0 = n, s1 = 32, s2 = 8, s3 = 8, s4 = 2, s5 = 10, s6 = 10, s7 = 4, s8 = 4]
func.func @pooled(%x: !graph.tensor<[n, 2, 10, 10], f32>, %w: !graph.tensor<[2, 3, 3, 32], f32, #tile.panels<axis = 3, width = 32>>) -> !graph.tensor<[n, 32, 4, 4], f32> {
  %r = tile.group {
    %pixels = tile.compute [n, 32, 8, 8, 2, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
        ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>,
            %w : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d1)>) init [0.0 : f32] {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      tile.yield %s : f32
    } : (!graph.tensor<[n, 2, 10, 10], f32>, !graph.tensor<[2, 3, 3, 32], f32, #tile.panels<axis = 3, width = 32>>) -> !graph.tensor<[n, 32, 8, 8], f32>
    %most = tile.compute [n, 32, 4, 4, 2, 2] [parallel, parallel, parallel, parallel, reduction, reduction]
        ins(%pixels : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>) init [0xFF800000 : f32] {
    ^bb0(%a: f32, %most: f32):
      %m = arith.maximumf %most, %a : f32
      tile.yield %m : f32
    } : (!graph.tensor<[n, 32, 8, 8], f32>) -> !graph.tensor<[n, 32, 4, 4], f32>
    %y = tile.compute [n, 32, 4, 4] [parallel, parallel, parallel, parallel] ins(%most : affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>) {
    ^bb0(%a: f32):
      %t = math.tanh %a : f32
      tile.yield %t : f32
    } : (!graph.tensor<[n, 32, 4, 4], f32>) -> !graph.tensor<[n, 32, 4, 4], f32>
    tile.yield %y : !graph.tensor<[n, 32, 4, 4], f32>
  } : !graph.tensor<[n, 32, 4, 4], f32>
  return %r : !graph.tensor<[n, 32, 4, 4], f32>
}

// Rows of other lengths beside a sum of products are none of its loops: sizes that are constant stay so.
// CHECK-LABEL: tile.program @p2 symbols [s0](%{{.*}}: !graph.tensor<[s0, 96], f32>, %{{.*}}: !graph.tensor<[96], f32>, %{{.*}}: !graph.tensor<[s0, 160], f32>,
// CHECK-SAME:    %{{.*}}: !graph.tensor<[s0, 224], f32>)
// CHECK:         tile.compute [s0, 96] [parallel, reduction]
// CHECK:         tile.compute [s0, 160] [parallel, parallel]
// CHECK:         tile.compute [s0, 160] [parallel, reduction]
// CHECK:         tile.compute [s0, 224] [parallel, parallel]
func.func @lengths(%x: !graph.tensor<[n, 96], f32>, %w: !graph.tensor<[96], f32>, %y: !graph.tensor<[n, 160], f32>, %z: !graph.tensor<[n, 224], f32>)
    -> (!graph.tensor<[n], f32>, !graph.tensor<[n, 224], f32>) {
  %r:2 = tile.group {
    %weighted = tile.compute [n, 96] [parallel, reduction]
        ins(%x : affine_map<(d0, d1) -> (d0, d1)>, %w : affine_map<(d0, d1) -> (d1)>) init [0.0 : f32] {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      tile.yield %s : f32
    } : (!graph.tensor<[n, 96], f32>, !graph.tensor<[96], f32>) -> !graph.tensor<[n], f32>
    %even = tile.compute [n, 160] [parallel, parallel] ins(%y : affine_map<(d0, d1) -> (d0, d1)>) {
    ^bb0(%a: f32):
      %t = math.tanh %a : f32
      tile.yield %t : f32
    } : (!graph.tensor<[n, 160], f32>) -> !graph.tensor<[n, 160], f32>
    %plain = tile.compute [n, 160] [parallel, reduction]
        ins(%even : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
    ^bb0(%a: f32, %sum: f32):
      %s = arith.addf %sum, %a : f32
      tile.yield %s : f32
    } : (!graph.tensor<[n, 160], f32>) -> !graph.tensor<[n], f32>
    %scaled = tile.compute [n, 224] [parallel, parallel]
        ins(%z : affine_map<(d0, d1) -> (d0, d1)>, %plain : affine_map<(d0, d1) -> (d0)>, %weighted : affine_map<(d0, d1) -> (d0)>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.mulf %p, %c : f32
      tile.yield %q : f32
    } : (!graph.tensor<[n, 224], f32>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>) -> !graph.tensor<[n, 224], f32>
    tile.yield %weighted, %scaled : !graph.tensor<[n], f32>, !graph.tensor<[n, 224], f32>
  } : !graph.tensor<[n], f32>, !graph.tensor<[n, 224], f32>
  return %r#0, %r#1 : !graph.tensor<[n], f32>, !graph.tensor<[n, 224], f32>
}
