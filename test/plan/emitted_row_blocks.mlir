// Blocks of results load each vector once for all results that share it: four of either operand for sixteen sums.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s

// Columns are copied in transposed squares, unless steps are neighbours in this run.
// CHECK-LABEL: func.func @columns
// CHECK:         scf.if %[[NEAR:.*]] {
// CHECK:         vector.shuffle
// CHECK:         llvm.select %[[NEAR]]

// Whole vectors.
// CHECK:         scf.for {{.*}} iter_args
// CHECK-COUNT-8:   vector.load
// CHECK-NOT:       vector.load
// CHECK:           scf.yield
// CHECK:         vector.reduction <add>
!x = !graph.tensor<[s0, s2], f32>
!w = !graph.tensor<[s2, s1], f32>
!y = !graph.tensor<[s0, s1], f32>
#plan = #tile.plan<#tile.rows<row_loops = 2, rows = 1, run_loops = [1], lanes = [16], accumulators = [8], block_rows = 4, block_columns = 4, packed = 1>,
                   tiles = (s0 ceildiv 4)*(s1 ceildiv 4), scratch = 64*(s1*(s2 ceildiv 16)), reads = [#tile.shared_block<elements = 4*s2, tiles = s1 ceildiv 4>, unit],
                   writes = [#tile.shared_block<elements = 4*s1, tiles = s1 ceildiv 4>]>
tile.program @columns symbols [s0, s1, s2](%x: !x, %w: !w) -> (!y) attributes {plan = #plan} {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !y
  tile.return %0 : !y
}
