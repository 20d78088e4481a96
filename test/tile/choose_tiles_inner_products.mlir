// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --split-input-file | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 --split-input-file | FileCheck %s --check-prefix=AVX2
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 inner-products=false" --split-input-file | FileCheck %s --check-prefix=OFF

// A long sum of few columns: vectors run along it. Contiguous columns are copied so that steps are neighbours; the
// epilogue follows result by result.
// CHECK: tile.counters = {constructed = 1 : i64, contractions = 1 : i64, inner_products = 1 : i64, kept_packed
// CHECK-LABEL: tile.program @few_columns
// CHECK-SAME:    #tile.plan<#tile.rows<row_loops = 2, rows = 1, run_loops = [1], lanes = [16], accumulators = [8], block_rows = 4, block_columns = 4, packed = 1>, tiles = 16, scratch = 36096
// AVX2-LABEL: tile.program @few_columns
// AVX2-SAME:    lanes = [8], accumulators = [8], block_rows = 2, block_columns = 4, packed = 1>
// OFF-NOT: inner_products
// OFF-LABEL: tile.program @few_columns
// OFF-SAME:    #tile.tree<
!x = !graph.tensor<[64, 3000], f32>
!w = !graph.tensor<[3000, 3], f32>
!y = !graph.tensor<[64, 3], f32>
tile.program @few_columns symbols [](%x: !x, %w: !w) -> (!y) {
  %0 = tile.compute [64, 3, 3000] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !y
  %1 = tile.compute [64, 3] [parallel, parallel] ins(%0 : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tile.yield %n : f32
  } : (!y) -> !y
  tile.return %1 : !y
}

// -----

// A row times a matrix whose rows are contiguous is inner products of a micro-kernel, which reads both in place.
// CHECK-LABEL: tile.program @row
// CHECK-SAME:    #tile.tree<
// CHECK-SAME:    in_place = 32
!x = !graph.tensor<[1, s1], f32>
!w = !graph.tensor<[s0, s1], f32>
!y = !graph.tensor<[1, s0], f32>
tile.program @row symbols [s0, s1](%x: !x, %w: !w) -> (!y) {
  %0 = tile.compute [1, s0, s1] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !y
  tile.return %0 : !y
}

// -----

// Vectors can't run along a sum of which neither operand has neighbours in memory.
// CHECK-NOT:   inner_products
// CHECK-LABEL: tile.program @columns_of_both
// CHECK-SAME:    #tile.tree<
!x = !graph.tensor<[3000, 64], f32>
!w = !graph.tensor<[3000, 3], f32>
!y = !graph.tensor<[64, 3], f32>
tile.program @columns_of_both symbols [](%x: !x, %w: !w) -> (!y) {
  %0 = tile.compute [64, 3, 3000] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d2, d0)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !y
  tile.return %0 : !y
}
