// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: freestone-opt %s --tile-choose-tiles='target=x86-64-v4 channel-vectors=false' | FileCheck %s --check-prefix=OFF

// OFF-NOT: channel_vectors
// CHECK:   channel_vectors = 4 : i64

// Depthwise: of sizes that a run brings, narrow pictures have vectors along the channels.
// CHECK-LABEL: tile.program @depthwise
// CHECK-SAME:    #tile.window<{{.*}}lanes = 16, {{.*}}unroll = 25, channel_vectors = {{[0-9]+}}, bring_beyond = {{[0-9]+}}>
// AVX2-LABEL:  tile.program @depthwise
// AVX2-SAME:     #tile.window<{{.*}}lanes = 8, {{.*}}unroll = 25, channel_vectors = {{[0-9]+}}, bring_beyond = {{[0-9]+}}, overlap = true>
tile.program @depthwise symbols [n, h, w](%x: !graph.tensor<[n, 96, h, w], f32>, %k: !graph.tensor<[96, 5, 5], f32>)
    -> (!graph.tensor<[n, 96, h, w], f32>) {
  %0 = tile.compute [n, 96, h, w, 5, 5] [parallel, parallel, parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4 - 2, d3 + d5 - 2)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 96, h, w], f32>, !graph.tensor<[96, 5, 5], f32>) -> !graph.tensor<[n, 96, h, w], f32>
  tile.return %0 : !graph.tensor<[n, 96, h, w], f32>
}

// Groups of sixteen channels out, which see the same windows, fill a vector.
// CHECK-LABEL: tile.program @groups
// CHECK-SAME:    channel_vectors = {{[0-9]+}}, bring_beyond = {{[0-9]+}}>
tile.program @groups symbols [n, h, w](%x: !graph.tensor<[n, 10, 16, h, w], f32>, %k: !graph.tensor<[10, 16, 16, 3, 3], f32>)
    -> (!graph.tensor<[n, 10, 16, h, w], f32>) {
  %0 = tile.compute [n, 10, 16, h, w, 16, 3, 3] [parallel, parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d5, d3 + d6 - 1, d4 + d7 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 10, 16, h, w], f32>, !graph.tensor<[10, 16, 16, 3, 3], f32>) -> !graph.tensor<[n, 10, 16, h, w], f32>
  tile.return %0 : !graph.tensor<[n, 10, 16, h, w], f32>
}

// A known size that is narrow: only its code is emitted. A wide one has vectors of pixels.
// CHECK-LABEL: tile.program @narrow
// CHECK-SAME:    channel_vectors = 81, bring_beyond = {{[0-9]+}}>
tile.program @narrow symbols [n](%x: !graph.tensor<[n, 96, 7, 7], f32>) -> (!graph.tensor<[n, 96, 7, 7], f32>) {
  %0 = tile.compute [n, 96, 7, 7, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4 - 1, d3 + d5 - 1)>)
      fill [0xFF800000 : f32] init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!graph.tensor<[n, 96, 7, 7], f32>) -> !graph.tensor<[n, 96, 7, 7], f32>
  tile.return %0 : !graph.tensor<[n, 96, 7, 7], f32>
}
// CHECK-LABEL: tile.program @wide
// CHECK-SAME:    #tile.window<
// CHECK-NOT:     channel_vectors
tile.program @wide symbols [n](%x: !graph.tensor<[n, 96, 56, 56], f32>) -> (!graph.tensor<[n, 96, 56, 56], f32>) {
  %0 = tile.compute [n, 96, 56, 56, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4 - 1, d3 + d5 - 1)>)
      fill [0xFF800000 : f32] init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!graph.tensor<[n, 96, 56, 56], f32>) -> !graph.tensor<[n, 96, 56, 56], f32>
  tile.return %0 : !graph.tensor<[n, 96, 56, 56], f32>
}

// Taps may precede each other, as those of gradients do, and results lie channel by channel: lanes still have channels,
// and tiles go along these first.
// CHECK-LABEL: tile.program @mirrored
// CHECK-SAME:    channel_vectors = {{[0-9]+}}, bring_beyond = {{[0-9]+}}>
// CHECK-SAME:    reads = [unit, unit], writes = [unit]
tile.program @mirrored symbols [n, h, w](%x: !graph.tensor<[n, 96, h, w], f32>, %k: !graph.tensor<[96, 3, 3], f32>)
    -> (!graph.tensor<[96, n, h, w], f32>) {
  %0 = tile.compute [96, n, h, w, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d0, d2 + d4 - 1, d3 + d5 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, -d4 + 2, -d5 + 2)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 96, h, w], f32>, !graph.tensor<[96, 3, 3], f32>) -> !graph.tensor<[96, n, h, w], f32>
  tile.return %0 : !graph.tensor<[96, n, h, w], f32>
}
