// RUN: freestone-opt %s --tile-choose-tiles='target=x86-64-v3' | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles='target=x86-64-v3 windows=false' | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles='target=x86-64-v3 share-rows=false' | FileCheck %s --check-prefix=APART

// OFF-NOT: window
// OFF:     tile.program @apart
// CHECK:   module attributes {tile.counters = {channel_vectors = 3 : i64, constructed = 3 : i64, overlapped_vectors = 3 : i64, shared_rows = 1 : i64, side_by_side = 1 : i64, tiles_brought = 2 : i64, windows = 3 : i64}}

// APART-NOT: shared_rows
// APART-NOT: unroll
// APART:     tile.program @apart

// Depthwise: blocks of one output channel and up to eight vectors, whose rows share what they load for all taps. Of
// sizes that only a run brings, three rows of two vectors suit small and large pictures.
// CHECK-LABEL: tile.program @depthwise
// CHECK-SAME:  #tile.window<channels = 1, rows = 3, vectors = 2, lanes = 8, pixels = 512, copy = {{[0-9]+}}, unroll = 9, channel_vectors = {{[0-9]+}}, {{.*}}>
tile.program @depthwise symbols [n, c, h, w](%x: !graph.tensor<[n, c, h, w], f32>, %k: !graph.tensor<[c, 1, 3, 3], f32>)
    -> (!graph.tensor<[n, c, 1, h, w], f32>) {
  %0 = tile.compute [n, c, 1, h, w, 1, 3, 3] [parallel, parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 + d5, d3 + d6 - 1, d4 + d7 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 + d2, d5, d6, d7)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, c, h, w], f32>, !graph.tensor<[c, 1, 3, 3], f32>) -> !graph.tensor<[n, c, 1, h, w], f32>
  tile.return %0 : !graph.tensor<[n, c, 1, h, w], f32>
}

// A group of few channels: the channels of a block share loads of the picture.
// CHECK-LABEL: tile.program @group
// CHECK-SAME:  #tile.window<channels = 3, rows = 2, vectors = 2, lanes = 8,
tile.program @group symbols [n, h, w](%x: !graph.tensor<[n, 4, h, w], f32>, %k: !graph.tensor<[6, 4, 3, 3], f32>)
    -> (!graph.tensor<[n, 6, h, w], f32>) {
  %0 = tile.compute [n, 6, h, w, 4, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5 - 1, d3 * 2 + d6 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 4, h, w], f32>, !graph.tensor<[6, 4, 3, 3], f32>) -> !graph.tensor<[n, 6, h, w], f32>
  tile.return %0 : !graph.tensor<[n, 6, h, w], f32>
}

// A single row: blocks of several vectors.
// CHECK-LABEL: tile.program @signal
// CHECK-SAME:  #tile.window<channels = 1, rows = 1, vectors = 8, lanes = 8,
tile.program @signal symbols [n, w](%x: !graph.tensor<[n, w], f32>) -> (!graph.tensor<[n, w], f32>) {
  %0 = tile.compute [n, w, 5] [parallel, parallel, reduction] ins(%x : affine_map<(d0, d1, d2) -> (d0, d1 + d2 - 2)>)
      fill [0xFF800000 : f32] init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!graph.tensor<[n, w], f32>) -> !graph.tensor<[n, w], f32>
  tile.return %0 : !graph.tensor<[n, w], f32>
}

// Disjoint windows are not copied.
// CHECK-LABEL: tile.program @apart
// CHECK-SAME:  #tile.map<
tile.program @apart symbols [n, h, w](%x: !graph.tensor<[n, 2*h, 2*w], f32>) -> (!graph.tensor<[n, h, w], f32>) {
  %0 = tile.compute [n, h, w, 2, 2] [parallel, parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d2 * 2 + d4)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %m = arith.maximumf %most, %a : f32
    tile.yield %m : f32
  } : (!graph.tensor<[n, 2*h, 2*w], f32>) -> !graph.tensor<[n, h, w], f32>
  tile.return %0 : !graph.tensor<[n, h, w], f32>
}
