// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 rows-across=false" | FileCheck %s --check-prefix=OFF

// OFF-NOT: rows_across
// OFF:     tile.program @softmax
// OFF-NOT: packed
// CHECK: module attributes {tile.counters = {rows_across = 1 : i64}}

// The maximum and the sum over the channels of a pixel, whose neighbours are other pixels: sixteen of these are copied.
// CHECK-LABEL: tile.program @softmax
// CHECK-SAME:    #tile.rows<row_loops = 2, rows = 16, run_loops = [1, 1, 1], lanes = [16, 16, 16], accumulators = [1, 1, 1], packed = 0>
// CHECK-SAME:    scratch = 6144
tile.program @softmax symbols [n](%x: !graph.tensor<[n, 96, 784], f32>) -> (!graph.tensor<[n, 784, 96], f32>) {
  %0 = tile.compute [n, 784, 96] [parallel, parallel, reduction] ins(%x : affine_map<(d0, d1, d2) -> (d0, d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.maximumf %sum, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 96, 784], f32>) -> !graph.tensor<[n, 784], f32>
  %1 = tile.compute [n, 784, 96] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2, d1)>, %0 : affine_map<(d0, d1, d2) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %m: f32, %sum: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    %s = arith.addf %sum, %e : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 96, 784], f32>, !graph.tensor<[n, 784], f32>) -> !graph.tensor<[n, 784], f32>
  %2 = tile.compute [n, 784, 96] [parallel, parallel, parallel]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2, d1)>, %0 : affine_map<(d0, d1, d2) -> (d0, d1)>,
           %1 : affine_map<(d0, d1, d2) -> (d0, d1)>) {
  ^bb0(%a: f32, %m: f32, %sum: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    %q = arith.divf %e, %sum : f32
    tile.yield %q : f32
  } : (!graph.tensor<[n, 96, 784], f32>, !graph.tensor<[n, 784], f32>, !graph.tensor<[n, 784], f32>) -> !graph.tensor<[n, 784, 96], f32>
  tile.return %2 : !graph.tensor<[n, 784, 96], f32>
}
