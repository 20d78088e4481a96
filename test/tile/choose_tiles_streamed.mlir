// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 stream-columns=false" | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 stream-rows=false" | FileCheck %s --check-prefix=PACKED
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 pack-together=false" | FileCheck %s --check-prefix=ALONE
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --codegen-emit-programs | FileCheck %s --check-prefix=CODE

// CHECK: packed_together = 2 : i64
// CHECK-SAME: streamed_columns = 3 : i64, streamed_rows = 5 : i64
// OFF-NOT: streamed_columns
// PACKED-NOT: streamed_rows
// ALONE-NOT: packed_together
// ALONE-NOT: input = 1, {{[^>]*}}together

// Contiguous columns: up to a block of rows reads them in place, and up to two panels of columns the rows.
// A single column is inner products of eight rows at a time.
// CHECK-LABEL: tile.program @contiguous
// CHECK-SAME: size = s1, most = 1, tiling = #tile.rows<{{[^>]*}}block_rows = 8,
// CHECK-SAME: input = 0, {{.*}}in_place = 64
// CHECK-SAME: input = 1, {{.*}}in_place = 14, together = 4, far = {{[0-9]+}}>
// OFF-LABEL: tile.program @contiguous
// OFF-NOT: input = 1, {{[^>]*}}in_place
// PACKED-LABEL: tile.program @contiguous
// PACKED-NOT: input = 0, {{[^>]*}}in_place
// CODE-LABEL: func.func @contiguous
// CODE: call @freestone_update_f32
// CODE: call @freestone_stream_f32
// CODE: call @freestone_unpacked_f32
// CODE: call @freestone_contract_f32
!a = !graph.tensor<[s0, s2], f32>
!b = !graph.tensor<[s2, s1], f32>
!t = !graph.tensor<[s1, s2], f32>
!y = !graph.tensor<[s0, s1], f32>
tile.program @contiguous symbols [s0, s1, s2](%a: !a, %b: !b) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a, !b) -> !y
  tile.return %0 : !y
}

// Columns that lie along k, as rows do: as many rows as two for each lane are inner products.
// CHECK-LABEL: tile.program @transposed
// CHECK-SAME: in_place = 32
// OFF-LABEL: tile.program @transposed
// OFF-NOT: input = 1, {{[^>]*}}in_place
// CODE-LABEL: func.func @transposed
// CODE-NOT: call @freestone_stream
// CODE: call @freestone_inner_f32
// CODE: call @freestone_contract_f32
tile.program @transposed symbols [s0, s1, s2](%a: !a, %b: !t) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a, !t) -> !y
  tile.return %0 : !y
}

// Panels of another product whose columns are steps of k: blocks of k have whole panels.
// CHECK-LABEL: tile.program @panels
// CHECK-SAME: unit = 32
// CHECK-SAME: in_place = 32
// CODE-LABEL: func.func @panels
// CODE: call @freestone_inner_f32
// CODE: call @freestone_contract_f32
!p = !graph.tensor<[s1, s2], f32, #tile.panels<axis = 1, width = 32>>
tile.program @panels symbols [s0, s1, s2](%a: !a, %b: !p) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a, !p) -> !y
  tile.return %0 : !y
}

// More rows than read columns in place.
// CHECK-LABEL: tile.program @many_rows
// CHECK-NOT: input = 1, {{[^>]*}}in_place
!a64 = !graph.tensor<[64, s2], f32>
!y64 = !graph.tensor<[64, s1], f32>
tile.program @many_rows symbols [s1, s2](%a: !a64, %b: !b) -> (!y64) {
  %0 = tile.compute [64, s1, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a64, !b) -> !y64
  tile.return %0 : !y64
}

// Few columns of a known number.
// CHECK-LABEL: tile.program @few_columns
// CHECK-SAME: input = 0, {{.*}}in_place = 64
// CODE-LABEL: func.func @few_columns
// CODE: call @freestone_unpacked_f32
!b10 = !graph.tensor<[s2, 10], f32>
!y10 = !graph.tensor<[64, 10], f32>
tile.program @few_columns symbols [s2](%a: !a64, %b: !b10) -> (!y10) {
  %0 = tile.compute [64, 10, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a64, !b10) -> !y10
  tile.return %0 : !y10
}

// Rows of many columns are packed, and so are those that lie across k.
// CHECK-LABEL: tile.program @many_columns
// CHECK-NOT: in_place
// CHECK-LABEL: tile.program @across
// CHECK-NOT: in_place
// CODE-LABEL: func.func @many_columns
// CODE-NOT: call @freestone_unpacked
!b100 = !graph.tensor<[s2, 100], f32>
!y100 = !graph.tensor<[64, 100], f32>
tile.program @many_columns symbols [s2](%a: !a64, %b: !b100) -> (!y100) {
  %0 = tile.compute [64, 100, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a64, !b100) -> !y100
  tile.return %0 : !y100
}
!across = !graph.tensor<[s2, 64], f32>
tile.program @across symbols [s2](%a: !across, %b: !b10) -> (!y10) {
  %0 = tile.compute [64, 10, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d2, d0)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!across, !b10) -> !y10
  tile.return %0 : !y10
}

// One column: rows are summed along k, in place.
// CHECK-LABEL: tile.program @column
// CHECK-SAME: #tile.rows<
!b1 = !graph.tensor<[s2, 1], f32>
!y1 = !graph.tensor<[s0, 1], f32>
tile.program @column symbols [s0, s2](%a: !a, %b: !b1) -> (!y1) {
  %0 = tile.compute [s0, 1, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: f32, %w: f32, %sum: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a, !b1) -> !y1
  tile.return %0 : !y1
}
