// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 transform=false variants=false" | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 variants=false" | FileCheck %s --check-prefix=SQUARES
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 channels-apart=false" | FileCheck %s --check-prefix=TOGETHER
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 weight-gradients=false variants=false" | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 transform=false keep-packed=false variants=false" | FileCheck %s --check-prefix=AGAIN
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 transform=false construct=false" | FileCheck %s --check-prefix=PLAIN

// CHECK: module attributes {tile.counters = {channels_apart = 1 : i64, constructed = 1 : i64, contractions = 1 : i64, kept_packed = 1 : i64, narrow_panels = 1 : i64, results_brought = 1 : i64, strips = 1 : i64, tiles_brought = 3 : i64, weight_gradients = 3 : i64}}
// OFF: module attributes {tile.counters = {constructed = 3 : i64, contractions = 3 : i64, kept_packed = 3 : i64, narrow_panels = 3 : i64, results_brought = 3 : i64, side_by_side = 1 : i64, strips = 2 : i64}}
// PLAIN: module attributes {tile.counters = {channels_apart = 1 : i64, contractions = 1 : i64, kept_packed = 1 : i64, narrow_panels = 1 : i64, results_brought = 1 : i64, strips = 1 : i64, tiles_brought = 3 : i64, weight_gradients = 3 : i64}}
// AGAIN: module attributes {tile.counters = {channels_apart = 1 : i64, constructed = 1 : i64, contractions = 1 : i64, narrow_panels = 1 : i64, results_brought = 1 : i64, strips = 1 : i64, tiles_brought = 3 : i64, weight_gradients = 3 : i64}}

// A weight gradient: input channels, output channels, taps; summed over images and positions. A tile has several panels
// of output channels where that leaves four tiles.
// CHECK-LABEL: tile.program @weight_gradient
// CHECK-SAME: #tile.weight_gradient<
// CHECK-SAME: least_tiles = 4, bring_beyond = 131072>,
// CHECK-SAME: tiles = (s1 ceildiv 32) ceildiv {{.*}}, scratch
// SQUARES: module attributes {tile.counters = {{.*}}transformed = 1 : i64, weight_gradients = 3 : i64}}
// SQUARES-LABEL: tile.program @weight_gradient
// SQUARES-SAME: #tile.weight_gradient<{{.*}}outputs = {{[24]}}, channels = {{[1-9]}}
// SQUARES-LABEL: tile.program @groups
// SQUARES-NOT: outputs =
// SQUARES: tile.compute
// OFF-LABEL: tile.program @weight_gradient
// OFF-SAME: #tile.tree<
tile.program @weight_gradient symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2, 14, 14], f32>, %g: !graph.tensor<[s2, s1, 14, 14], f32>)
    -> (!graph.tensor<[s0, s1, 3, 3], f32>) {
  %0 = tile.compute [s0, s1, 3, 3, s2, 14, 14] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %g : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d5, d6)>)
      fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2, 14, 14], f32>, !graph.tensor<[s2, s1, 14, 14], f32>) -> !graph.tensor<[s0, s1, 3, 3], f32>
  tile.return %0 : !graph.tensor<[s0, s1, 3, 3], f32>
}

// Groups are batch loops; strides apply to positions, dilation to taps of rows.
// CHECK-LABEL: tile.program @groups
// CHECK-SAME: #tile.weight_gradient<
// CHECK-SAME: tiles = 5*((s1 ceildiv 32) ceildiv {{.*}}), scratch
tile.program @groups symbols [s0, s1, s2](%x: !graph.tensor<[s2, 5, s0, 40, 40], f32>, %g: !graph.tensor<[s2, 5, s1, 18, 19], f32>)
    -> (!graph.tensor<[5, s1, s0, 3, 3], f32>) {
  %0 = tile.compute [5, s1, s0, 3, 3, s2, 18, 19]
      [parallel, parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d0, d2, d3 * 2 + d6 * 2, d4 + d7 * 2)>,
          %g : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d0, d1, d6, d7)>)
      init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s2, 5, s0, 40, 40], f32>, !graph.tensor<[s2, 5, s1, 18, 19], f32>) -> !graph.tensor<[5, s1, s0, 3, 3], f32>
  tile.return %0 : !graph.tensor<[5, s1, s0, 3, 3], f32>
}

// A single tap: channels are copied apart, rather than innermost.
// CHECK-LABEL: tile.program @pointwise
// CHECK-SAME: #tile.weight_gradient<{{.*}}apart = true, {{.*}}>
// TOGETHER-LABEL: tile.program @pointwise
// TOGETHER-NOT: apart
// TOGETHER: tile.compute
tile.program @pointwise symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2, 28, 28], f32>, %g: !graph.tensor<[s2, s1, 28, 28], f32>)
    -> (!graph.tensor<[s0, s1, 1, 1], f32>) {
  %0 = tile.compute [s0, s1, 1, 1, s2, 28, 28] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>,
          %g : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d5, d6)>)
      init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2, 28, 28], f32>, !graph.tensor<[s2, s1, 28, 28], f32>) -> !graph.tensor<[s0, s1, 1, 1], f32>
  tile.return %0 : !graph.tensor<[s0, s1, 1, 1], f32>
}

// A convolution sums over few taps, so it is no weight gradient.
// CHECK-LABEL: tile.program @convolution
// CHECK-SAME: #tile.tree<
// AGAIN-LABEL: tile.program @convolution
// AGAIN-SAME: #tile.tree<
tile.program @convolution symbols [s0, s1, s2, s3, s4](%x: !graph.tensor<[s0, s4, s2, s3], f32>, %w: !graph.tensor<[s1, s4, 3, 3], f32>)
    -> (!graph.tensor<[s0, s1, s2, s3], f32>) {
  %0 = tile.compute [s0, s1, s2, s3, s4, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %w : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>)
      fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s4, s2, s3], f32>, !graph.tensor<[s1, s4, 3, 3], f32>) -> !graph.tensor<[s0, s1, s2, s3], f32>
  tile.return %0 : !graph.tensor<[s0, s1, s2, s3], f32>
}
