// Four short rows go together: a vector of each in a turn, and their sums are reduced to the lanes of one vector. The
// last pass prefetches the four rows that follow, or the next one.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s

// CHECK-LABEL: func.func @mean
// CHECK:         scf.while
// CHECK:         %[[SHORT:.*]] = arith.select
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[SHORT]] step
// CHECK:           scf.for {{.*}} iter_args
// CHECK-COUNT-4:     vector.load
// CHECK-NOT:         vector.load
// CHECK:             scf.yield
// CHECK-NOT:       vector.reduction
// CHECK:           vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK:           vector.shuffle {{.*}} [0, 4, 8, 12] : vector<16xf32>, vector<16xf32>
// CHECK:           vector.store {{.*}} vector<4xf32>
// CHECK-COUNT-4:     llvm.intr.prefetch
// CHECK-NOT:         llvm.intr.prefetch
// CHECK:         scf.for %{{.*}} = %[[SHORT]] to
// CHECK:           vector.reduction <add>
// CHECK:           llvm.intr.prefetch
!x = !graph.tensor<[n, c], f32>
!r = !graph.tensor<[n], f32>
#plan = #tile.plan<#tile.rows<row_loops = 1, rows = 32, run_loops = [1, 1], lanes = [16, 16], accumulators = [1, 1], together = 4, short_row = 64, prefetching = 1>,
                   tiles = n ceildiv 32, scratch = 0, reads = [#sym.expr<32*c>], writes = [#sym.expr<32*c>, #sym.expr<32>]>
tile.program @mean symbols [n, c](%x: !x) -> (!x, !r) attributes {plan = #plan} {
  %0 = tile.compute [n, c] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!x) -> !r
  %1 = tile.compute [n, c] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>, %0 : affine_map<(d0, d1) -> (d0)>) {
  ^bb0(%a: f32, %sum: f32):
    %d = arith.subf %a, %sum : f32
    tile.yield %d : f32
  } : (!x, !r) -> !x
  tile.return %1, %0 : !x, !r
}
