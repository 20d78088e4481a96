// Dot products on vectors: few rows read columns that are neighbours in place, few columns, or a few panels of them, read
// rows that lie along the sum. Beside a matrix unit, which packs both, vectors read those of very few rows or columns.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512bf16 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+avx512bf16 stream-columns=false stream-rows=false" | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-bf16 | FileCheck %s --check-prefix=BESIDE
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-bf16 --codegen-emit-programs | FileCheck %s --check-prefix=TILES
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512bf16 --codegen-emit-programs | FileCheck %s --check-prefix=CODE

// CHECK: streamed_columns = 1 : i64, streamed_rows = 2 : i64
// OFF-NOT: streamed_
// OFF-NOT: in_place

// BESIDE: streamed_columns = 1 : i64, streamed_rows = 1 : i64
// BESIDE-LABEL: tile.program @any
// BESIDE-SAME: unit = tiles
// BESIDE-SAME: input = 0, {{[^>]*}}in_place = 4>
// BESIDE-SAME: input = 1, {{[^>]*}}in_place = 4>
// BESIDE-LABEL: tile.program @many
// BESIDE-NOT: in_place

// TILES-LABEL: func.func @any
// TILES: call @freestone_dot_products_enter
// TILES-DAG: call @freestone_dot_updates_bf16
// TILES-DAG: call @freestone_inner_products_bf16
// TILES-DAG: call @freestone_dot_products_bf16(
// TILES: call @freestone_dot_products_leave

// CHECK-LABEL: tile.program @any
// CHECK-SAME: input = 0, {{[^>]*}}in_place = 256>
// CHECK-SAME: input = 1, {{[^>]*}}in_place = 4>
// CODE-LABEL: func.func @any
// CODE-DAG: call @freestone_dot_updates_bf16
// CODE-DAG: call @freestone_inner_products_bf16
// CODE-DAG: call @freestone_dot_products_bf16_f32_in_place
// CODE-DAG: call @freestone_dot_products_bf16_f32(
!a = !graph.tensor<[s0, s2], bf16>
!b = !graph.tensor<[s2, s1], bf16>
tile.program @any symbols [s0, s1, s2](%a: !a, %b: !b) -> (!graph.tensor<[s0, s1], f32>) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: bf16, %w: bf16, %sum: f32):
    %wide_x = arith.extf %x : bf16 to f32
    %wide_w = arith.extf %w : bf16 to f32
    %p = arith.mulf %wide_x, %wide_w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a, !b) -> !graph.tensor<[s0, s1], f32>
  tile.return %0 : !graph.tensor<[s0, s1], f32>
}

// Rows and columns that are known: too many to be updates or inner products.
// CHECK-LABEL: tile.program @many
// CHECK-SAME: input = 0, {{[^>]*}}in_place = 256>
// CHECK-NOT: in_place
!c = !graph.tensor<[5, s2], bf16>
!d = !graph.tensor<[s2, 17], bf16>
tile.program @many symbols [s2](%a: !c, %b: !d) -> (!graph.tensor<[5, 17], f32>) {
  %0 = tile.compute [5, 17, s2] [parallel, parallel, reduction]
       ins(%a : affine_map<(d0, d1, d2) -> (d0, d2)>, %b : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%x: bf16, %w: bf16, %sum: f32):
    %wide_x = arith.extf %x : bf16 to f32
    %wide_w = arith.extf %w : bf16 to f32
    %p = arith.mulf %wide_x, %wide_w : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!c, !d) -> !graph.tensor<[5, 17], f32>
  tile.return %0 : !graph.tensor<[5, 17], f32>
}

// CODE-LABEL: module @dot_updates_bf16
// CODE: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CODE-LABEL: module @inner_products_bf16
// CODE: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
