// Dot products on vectors write results that are their sums, or these as bf16; what follows otherwise reads them from
// scratch, as on matrix units.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512vnni,+avx512bf16 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+avx512vnni,+avx512bf16 direct-results=false" | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-int8,+amx-bf16 | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512vnni,+avx512bf16 --codegen-emit-programs | FileCheck %s --check-prefix=CODE

// CHECK: direct_results = 2 : i64
// OFF-NOT: direct

// CHECK-LABEL: tile.program @integers
// CHECK-SAME: #tile.multiply<compute = 0, columns = 2, direct = true>
// CODE-LABEL: func.func @integers
// CODE: call @freestone_dot_products_u8s8_i32_narrow(
// CODE: call @freestone_dot_products_u8s8_i32(
// CODE-NOT: vector.store
// CODE-LABEL: func.func @narrowed
!x = !graph.tensor<[100, s2], i8>
!w = !graph.tensor<[s2, 300], i8>
!y = !graph.tensor<[100, 300], i32>
tile.program @integers symbols [s2](%x: !x, %w: !w) -> (!y) {
  %0 = tile.compute [100, 300, s2] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!x, !w) -> !y
  tile.return %0 : !y
}

// CHECK-LABEL: tile.program @narrowed
// CHECK-SAME: #tile.multiply<compute = 0, columns = 2, direct = true>
// CODE-NOT: arith.truncf
// CODE: call @freestone_dot_products_bf16_bf16
// CODE-LABEL: func.func @followed
// CODE: call @freestone_dot_products_bf16(
// CODE: arith.truncf
!a = !graph.tensor<[100, s2], bf16>
!b = !graph.tensor<[s2, 320], bf16>
!c = !graph.tensor<[100, 320], f32>
!d = !graph.tensor<[100, 320], bf16>
tile.program @narrowed symbols [s2](%x: !a, %w: !b) -> (!d) {
  %0 = tile.compute [100, 320, s2] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%p: bf16, %q: bf16, %sum: f32):
    %wide_p = arith.extf %p : bf16 to f32
    %wide_q = arith.extf %q : bf16 to f32
    %m = arith.mulf %wide_p, %wide_q : f32
    %s = arith.addf %sum, %m : f32
    tile.yield %s : f32
  } : (!a, !b) -> !c
  %1 = tile.compute [100, 320] [parallel, parallel] ins(%0 : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%s: f32):
    %n = arith.truncf %s : f32 to bf16
    tile.yield %n : bf16
  } : (!c) -> !d
  tile.return %1 : !d
}

// CHECK-LABEL: tile.program @followed
// CHECK-NOT: direct
tile.program @followed symbols [s2](%x: !a, %w: !b) -> (!d) {
  %0 = tile.compute [100, 320, s2] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%p: bf16, %q: bf16, %sum: f32):
    %wide_p = arith.extf %p : bf16 to f32
    %wide_q = arith.extf %q : bf16 to f32
    %m = arith.mulf %wide_p, %wide_q : f32
    %s = arith.addf %sum, %m : f32
    tile.yield %s : f32
  } : (!a, !b) -> !c
  %1 = tile.compute [100, 320] [parallel, parallel] ins(%0 : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%s: f32):
    %e = math.exp %s : f32
    %n = arith.truncf %e : f32 to bf16
    tile.yield %n : bf16
  } : (!c) -> !d
  tile.return %1 : !d
}
