// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 transpositions=false" | FileCheck %s --check-prefix=OFF

// CHECK: module attributes {tile.counters = {transpositions = 3 : i64}}
// OFF-NOT: transpositions

// Operands that are contiguous along the columns, or broadcast, need no transposition.
// CHECK-LABEL: tile.program @planes
// CHECK-SAME:    #tile.transposition<across = 1, rows = 64, columns = 64, width = 16, lanes = 16>, tiles = s0*(s1 ceildiv 64)*(s2 ceildiv 64)
// AVX2-LABEL:  tile.program @planes
// AVX2-SAME:     #tile.transposition<across = 1, rows = 64, columns = 64, width = 8, lanes = 8>
// OFF-LABEL:   tile.program @planes
// OFF-SAME:      #tile.map<
tile.program @planes symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2, s1], f32>, %b: !graph.tensor<[s2], f32>)
    -> (!graph.tensor<[s0, s1, s2], f32>) {
  %y = tile.compute [s0, s1, s2] [parallel, parallel, parallel]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2, d1)>, %b : affine_map<(d0, d1, d2) -> (d2)>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2, s1], f32>, !graph.tensor<[s2], f32>) -> !graph.tensor<[s0, s1, s2], f32>
  tile.return %y : !graph.tensor<[s0, s1, s2], f32>
}

// Wide elements: fewer lanes and smaller tiles.
// CHECK-LABEL: tile.program @wide
// CHECK-SAME:    #tile.transposition<across = 0, rows = 32, columns = 32, width = 8, lanes = 8>
// AVX2-LABEL:  tile.program @wide
// AVX2-SAME:     #tile.transposition<across = 0, rows = 32, columns = 32, width = 4, lanes = 4>
tile.program @wide symbols [s0, s1](%x: !graph.tensor<[s1, s0], i64>) -> (!graph.tensor<[s0, s1], i64>) {
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d1, d0)>) {
  ^bb0(%a: i64):
    tile.yield %a : i64
  } : (!graph.tensor<[s1, s0], i64>) -> !graph.tensor<[s0, s1], i64>
  tile.return %y : !graph.tensor<[s0, s1], i64>
}

// Few columns of many rows are interleaved.
// CHECK-LABEL: tile.program @few
// CHECK-SAME:    #tile.transposition<across = 0, rows = 1024, columns = 3, width = 3, lanes = 16>, tiles = s0 ceildiv 1024
tile.program @few symbols [s0](%x: !graph.tensor<[3, s0], f32>) -> (!graph.tensor<[s0, 3], f32>) {
  %y = tile.compute [s0, 3] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d1, d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[3, s0], f32>) -> !graph.tensor<[s0, 3], f32>
  tile.return %y : !graph.tensor<[s0, 3], f32>
}

// Few rows would leave blocks empty.
// CHECK-LABEL: tile.program @empty
// CHECK-SAME:    #tile.map<
tile.program @empty symbols [s0](%x: !graph.tensor<[s0, 3], f32>) -> (!graph.tensor<[3, s0], f32>) {
  %y = tile.compute [3, s0] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d1, d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[s0, 3], f32>) -> !graph.tensor<[3, s0], f32>
  tile.return %y : !graph.tensor<[3, s0], f32>
}
