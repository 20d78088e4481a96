// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 | FileCheck %s --check-prefix=NARROW
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 rows-together=false prefetch-rows=false" | FileCheck %s --check-prefix=OFF

// OFF-NOT: rows_together
// OFF-NOT: rows_prefetched
// OFF:     tile.program @softmax
// OFF-NOT: together
// OFF-NOT: prefetching
// CHECK: module attributes {tile.counters = {rows_prefetched = 1 : i64, rows_together = 1 : i64

// Four rows of as many vectors as a processor looks ahead; the exponentials, which take longest, prefetch the next ones.
// Tiles are whole fours of rows and take as long with any vectors, of long operations as of short ones.
// CHECK-LABEL: tile.program @softmax
// CHECK-SAME:    rows = max(4*(351 floordiv c), 1), {{.*}}together = 4, short_row = 96, prefetching = 1>
// CHECK-SAME:    scratch = 64*
// NARROW-LABEL: tile.program @softmax
// NARROW-SAME:    rows = max(4*(175 floordiv c), 1), {{.*}}together = 4, short_row = 48, prefetching = 1>
!x = !graph.tensor<[n, c], f32>
!r = !graph.tensor<[n], f32>
tile.program @softmax symbols [n, c](%x: !x) -> (!x) {
  %0 = tile.compute [n, c] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0xFF800000 : f32] {
  ^bb0(%a: f32, %most: f32):
    %s = arith.maxnumf %most, %a : f32
    tile.yield %s : f32
  } : (!x) -> !r
  %1 = tile.compute [n, c] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>, %0 : affine_map<(d0, d1) -> (d0)>) {
  ^bb0(%a: f32, %m: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d fastmath<afn> : f32
    tile.yield %e : f32
  } : (!x, !r) -> !x
  %2 = tile.compute [n, c] [parallel, reduction] ins(%1 : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!x) -> !r
  %3 = tile.compute [n, c] [parallel, parallel] ins(%1 : affine_map<(d0, d1) -> (d0, d1)>, %2 : affine_map<(d0, d1) -> (d0)>) {
  ^bb0(%a: f32, %sum: f32):
    %q = arith.divf %a, %sum : f32
    tile.yield %q : f32
  } : (!x, !r) -> !x
  tile.return %3 : !x
}

// Positions of extremes have no operation that combines lanes: their rows go one by one.
// CHECK-LABEL: tile.program @position
// CHECK-SAME:    rows = max(2048 floordiv c, 1),
// CHECK-NOT:     together
!i = !graph.tensor<[n], i64>
tile.program @position symbols [n, c](%x: !x) -> (!r, !i) {
  %0:2 = tile.compute [n, c] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0xFF800000 : f32, -1 : i64] {
  ^bb0(%a: f32, %most: f32, %place: i64):
    %column = tile.index 1 : index
    %here = arith.index_cast %column : index to i64
    %takes = arith.cmpf ogt, %a, %most : f32
    %s = arith.select %takes, %a, %most : f32
    %p = arith.select %takes, %here, %place : i64
    tile.yield %s, %p : f32, i64
  } : (!x) -> (!r, !i)
  tile.return %0#0, %0#1 : !r, !i
}

// A row of at least 196 elements is never short, however many there are.
// CHECK-LABEL: tile.program @long
// CHECK-NOT:     together
!p = !graph.tensor<[n, c, 196], f32>
tile.program @long symbols [n, c](%x: !p) -> (!r) {
  %0 = tile.compute [n, c, 196] [parallel, reduction, reduction] ins(%x : affine_map<(d0, d1, d2) -> (d0, d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!p) -> !r
  tile.return %0 : !r
}
