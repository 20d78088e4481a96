// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+amx-bf16 variants=false" | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 variants=false" | FileCheck %s --check-prefix=NONE
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+amx-bf16 dot-products=false variants=false" | FileCheck %s --check-prefix=NONE
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-bf16 --codegen-emit-programs \
// RUN:   | FileCheck %s --check-prefix=TILES
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512bf16 --codegen-emit-programs \
// RUN:   | FileCheck %s --check-prefix=VECTORS

// CHECK: tile.counters = {constructed = 1 : i64, contractions = 1 : i64, dot_products = 1 : i64, kept_packed = 1 : i64, narrow_panels = 1 : i64, results_brought = 1 : i64, streamed_columns = 1 : i64, streamed_rows = 2 : i64, strips = 1 : i64}
// NONE: tile.counters = {constructed = 2 : i64, contractions = 2 : i64, kept_packed = 2 : i64, narrow_panels = 2 : i64, results_brought = 2 : i64, streamed_rows = 1 : i64, strips = 2 : i64}

// CHECK-LABEL: tile.program @narrow
// CHECK-SAME: #tile.tree<kernel = #tile.dot_product_kernel<unit = tiles, groups = {{[0-9]+}}>, body = [
// CHECK-SAME:   #tile.blocks<axis = 1, step = 32, unit = 32, dealt = true, share = <elements = {{[0-9]+}}, most_rows = {{[0-9]+}}, least_tiles = {{[0-9]+}}>, body = [
// CHECK-SAME:     #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
// CHECK-SAME:       #tile.blocks<axis = 3, step = 2048, unit = 32, dealt = false, body = [
// CHECK-SAME:         #tile.packed<compute = 0, input = 0, kept = 1, most = {{[0-9]+}}, in_place = 4>, #tile.packed<compute = 0, input = 1, kept = 2, most = {{[0-9]+}}, in_place = 4>,
// CHECK-SAME:         #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.multiply<compute = 0, columns = 2>, #tile.blocks<axis = 1, step = 1, dealt = false, body = [#tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<lanes = 2, along = 1, ahead = 8>]>]>]>
// NONE-LABEL: tile.program @narrow
// NONE-SAME: #tile.tree<kernel = <
// TILES-LABEL: func.func @narrow
// TILES: call @freestone_dot_products_enter
// TILES: call @freestone_dot_products_bf16
// TILES: call @freestone_dot_products_leave
// VECTORS-LABEL: func.func @narrow
// VECTORS-NOT: @freestone_dot_products_enter
// VECTORS: call @freestone_dot_products_bf16
tile.program @narrow symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], bf16>, %w: !graph.tensor<[s1, s2], bf16>)
    -> (!graph.tensor<[s0, s1], f32>) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2], bf16>, !graph.tensor<[s1, s2], bf16>) -> !graph.tensor<[s0, s1], f32>
  tile.return %0 : !graph.tensor<[s0, s1], f32>
}

// An operand of f32 is not rounded to bf16.
// CHECK-LABEL: tile.program @mixed
// CHECK-SAME: #tile.tree<kernel = <
tile.program @mixed symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], f32>, %w: !graph.tensor<[s1, s2], bf16>)
    -> (!graph.tensor<[s0, s1], f32>) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: bf16, %sum: f32):
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2], f32>, !graph.tensor<[s1, s2], bf16>) -> !graph.tensor<[s0, s1], f32>
  tile.return %0 : !graph.tensor<[s0, s1], f32>
}

// TILES-LABEL: module @dot_products_bf16
// TILES: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// TILES-LABEL: module @dot_products_tiles
// TILES: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// TILES: llvm.call_intrinsic "llvm.x86.tilerelease"
// VECTORS-LABEL: module @dot_products_bf16
// VECTORS: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
