// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 sum-blocks=false" | FileCheck %s --check-prefix=OFF

// OFF-NOT: sum_blocks
// OFF:     tile.program @filters
// CHECK: module attributes {tile.counters = {{.*}}sum_blocks = 4 : i64

// The gradient of depthwise filters: every tap reads the picture at places of its own, and the gradient of the result at
// the same. Vectors run along the columns of the picture, and a block has as many taps as registers hold. The
// picture is copied with its border first.
// CHECK-LABEL: tile.program @filters
// CHECK-SAME:    #tile.rows<row_loops = 3, rows = {{.*}}, run_loops = [3], lanes = [16], accumulators = [1], block_rows = 3, block_columns = 7, packed = 0>
// AVX2-LABEL: tile.program @filters
// AVX2-SAME:    lanes = [8], accumulators = [1], block_columns = 7, packed = 0>
// OFF-SAME:    #tile.rows<row_loops = 3,
// OFF-NOT:     block_rows
// OFF:         tile.program @small
tile.program @filters symbols [n](%x: !graph.tensor<[n, 96, 56, 56], f32>, %g: !graph.tensor<[96, n, 56, 56], f32>)
    -> (!graph.tensor<[96, 7, 7], f32>) {
  %0 = tile.compute [96, 7, 7, n, 56, 56] [parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1 + d4 - 3, d2 + d5 - 3)>,
          %g : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d4, d5)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 96, 56, 56], f32>, !graph.tensor<[96, n, 56, 56], f32>) -> !graph.tensor<[96, 7, 7], f32>
  tile.return %0 : !graph.tensor<[96, 7, 7], f32>
}

// Of 14 columns, vectors of sixteen use more lanes than of seven taps; those of eight do not.
// CHECK-LABEL: tile.program @small
// CHECK-SAME:    block_rows = 3, block_columns = 7, packed = 0>
// AVX2-LABEL: tile.program @small
// AVX2-SAME:    #tile.window<
tile.program @small symbols [n](%x: !graph.tensor<[n, 384, 14, 14], f32>, %g: !graph.tensor<[384, n, 14, 14], f32>)
    -> (!graph.tensor<[384, 7, 7], f32>) {
  %0 = tile.compute [384, 7, 7, n, 14, 14] [parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1 + d4 - 3, d2 + d5 - 3)>,
          %g : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d4, d5)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 384, 14, 14], f32>, !graph.tensor<[384, n, 14, 14], f32>) -> !graph.tensor<[384, 7, 7], f32>
  tile.return %0 : !graph.tensor<[384, 7, 7], f32>
}

// Of signals, channels share nothing: a block has the taps of one.
// CHECK-LABEL: tile.program @signals
// CHECK-SAME:    #tile.rows<row_loops = 2, rows = {{.*}}, run_loops = [2], lanes = [16], accumulators = [1], block_columns = 5, packed = 0>
tile.program @signals symbols [n](%x: !graph.tensor<[n, 64, 500], f32>, %g: !graph.tensor<[n, 64, 500], f32>)
    -> (!graph.tensor<[64, 5], f32>) {
  %0 = tile.compute [64, 5, n, 500] [parallel, parallel, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3) -> (d2, d0, d1 + d3 - 2)>,
          %g : affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 64, 500], f32>, !graph.tensor<[n, 64, 500], f32>) -> !graph.tensor<[64, 5], f32>
  tile.return %0 : !graph.tensor<[64, 5], f32>
}

// With strides, the copy of a row has the columns of each residue one after another.
// CHECK-LABEL: tile.program @strided
// CHECK-SAME:    accumulators = [1], block_rows = 3, block_columns = 3, packed = 0>
// AVX2-LABEL: tile.program @strided
// AVX2-SAME:    lanes = [8], accumulators = [1], block_rows = 3, block_columns = 3, packed = 0>
tile.program @strided symbols [n](%x: !graph.tensor<[n, 96, 56, 56], f32>, %g: !graph.tensor<[96, n, 28, 28], f32>)
    -> (!graph.tensor<[96, 3, 3], f32>) {
  %0 = tile.compute [96, 3, 3, n, 28, 28] [parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1 + d4 * 2 - 1, d2 + d5 * 2 - 1)>,
          %g : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d4, d5)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 96, 56, 56], f32>, !graph.tensor<[96, n, 28, 28], f32>) -> !graph.tensor<[96, 3, 3], f32>
  tile.return %0 : !graph.tensor<[96, 3, 3], f32>
}
