// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+avx512vnni variants=false" | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v3 variants=false" | FileCheck %s --check-prefix=PAIRS
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+avx512vnni dot-products=false variants=false" \
// RUN:   | FileCheck %s --check-prefix=PAIRS
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v3 pair-products=false variants=false" | FileCheck %s --check-prefix=NONE
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512vnni --codegen-emit-programs \
// RUN:   | FileCheck %s --check-prefix=VECTORS
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-int8 --codegen-emit-programs \
// RUN:   | FileCheck %s --check-prefix=TILES

// CHECK: tile.counters = {constructed = 2 : i64, contractions = 2 : i64, direct_results = 4 : i64, dot_products = 4 : i64, kept_packed = 2 : i64, narrow_panels = 6 : i64, pair_products = 1 : i64, results_brought = 2 : i64, streamed_columns = 4 : i64, streamed_rows = 4 : i64, strips = 6 : i64}
// PAIRS: tile.counters = {constructed = 6 : i64, contractions = 6 : i64, kept_packed = 6 : i64, narrow_panels = 6 : i64, pair_products = 5 : i64, results_brought = 6 : i64, strips = 6 : i64}
// NONE: tile.counters = {constructed = 6 : i64, contractions = 6 : i64, kept_packed = 6 : i64, narrow_panels = 6 : i64, results_brought = 6 : i64, strips = 6 : i64}

// Of vectors, one operand is unsigned and the other signed.
// CHECK-LABEL: tile.program @unsigned_signed
// CHECK-SAME: #tile.tree<kernel = #tile.dot_product_kernel<unit = vectors, {{.*}}axis = 3, step = 4096, unit = 64
// CHECK-SAME: #tile.blocks<axis = 2, step = 128, dealt = false, most_depth = 128, body = [#tile.blocks<axis = 1, step = 32, dealt = false,
// PAIRS-LABEL: tile.program @unsigned_signed
// PAIRS-SAME: #tile.tree<kernel = <{{.*}}word_steps = 2
// NONE-LABEL: tile.program @unsigned_signed
// NONE-NOT: word_steps
// VECTORS-LABEL: func.func @unsigned_signed
// VECTORS-NOT: dpbusd
// VECTORS: call @freestone_dot_products_u8s8
// TILES-LABEL: func.func @unsigned_signed
// TILES: call @freestone_dot_products_enter
// TILES: call @freestone_dot_products_u8s8
// TILES: call @freestone_dot_products_leave
!u = !graph.tensor<[s0, s2], ui8>
!s = !graph.tensor<[s0, s2], i8>
!v = !graph.tensor<[s2, s1], ui8>
!t = !graph.tensor<[s2, s1], i8>
!y = !graph.tensor<[s0, s1], i32>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
tile.program @unsigned_signed symbols [s0, s1, s2](%x: !u, %w: !t) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction] ins(%x : #lhs, %w : #rhs) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!u, !t) -> !y
  tile.return %0 : !y
}

// A is packed as unsigned, which adds 128 to every element: 128 times the sums of columns are subtracted.
// CHECK-LABEL: tile.program @signed_signed
// CHECK-SAME: #tile.tree<kernel = #tile.dot_product_kernel<
// VECTORS-LABEL: func.func @signed_signed
// VECTORS: arith.constant dense<-2139062144> : vector<16xi32>
// VECTORS: arith.xori
// VECTORS: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VECTORS: call @freestone_dot_products_u8s8_i32
// TILES-LABEL: func.func @signed_signed
// TILES-NOT: arith.xori
// TILES: call @freestone_dot_products_s8s8
tile.program @signed_signed symbols [s0, s1, s2](%x: !s, %w: !t) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction] ins(%x : #lhs, %w : #rhs) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!s, !t) -> !y
  tile.return %0 : !y
}

// VECTORS-LABEL: func.func @unsigned_unsigned
// VECTORS: call @freestone_dot_products_s8u8
// TILES-LABEL: func.func @unsigned_unsigned
// TILES: call @freestone_dot_products_u8u8
tile.program @unsigned_unsigned symbols [s0, s1, s2](%x: !u, %w: !v) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction] ins(%x : #lhs, %w : #rhs) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extui %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!u, !v) -> !y
  tile.return %0 : !y
}

// VECTORS-LABEL: func.func @signed_unsigned
// VECTORS-NOT: arith.xori
// VECTORS: call @freestone_dot_products_s8u8
// TILES-LABEL: func.func @signed_unsigned
// TILES: call @freestone_dot_products_s8u8
tile.program @signed_unsigned symbols [s0, s1, s2](%x: !s, %w: !v) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction] ins(%x : #lhs, %w : #rhs) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extui %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!s, !v) -> !y
  tile.return %0 : !y
}

// Differences with a zero point have 9 bits.
// CHECK-LABEL: tile.program @halves
// CHECK-SAME: #tile.tree<kernel = <{{.*}}word_steps = 2
tile.program @halves symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], i16>, %w: !t) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction] ins(%x : #lhs, %w : #rhs) init [0 : i32] {
  ^bb0(%a: i16, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i16 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[s0, s2], i16>, !t) -> !y
  tile.return %0 : !y
}

// The 16 bits of a signed byte, widened without sign, fit neither 8 nor 16 signed bits.
// CHECK-LABEL: tile.program @twice
// CHECK-SAME: #tile.tree<kernel = <
// CHECK-NOT: word_steps
tile.program @twice symbols [s0, s1, s2](%x: !s, %w: !t) -> (!y) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction] ins(%x : #lhs, %w : #rhs) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %half_a = arith.extsi %a : i8 to i16
    %wide_a = arith.extui %half_a : i16 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!s, !t) -> !y
  tile.return %0 : !y
}

// VECTORS-LABEL: module @dot_products_u8s8
// VECTORS: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VECTORS: func.func @freestone_dot_products_u8s8
// VECTORS-LABEL: module @dot_products_s8u8
// VECTORS: func.func @freestone_dot_products_s8u8
// TILES-LABEL: module @dot_products_u8s8
// TILES: llvm.call_intrinsic "llvm.x86.tdpbusd"
// TILES-LABEL: module @dot_products_s8s8
// TILES: llvm.call_intrinsic "llvm.x86.tdpbssd"
// TILES-LABEL: module @dot_products_u8u8
// TILES: llvm.call_intrinsic "llvm.x86.tdpbuud"
// TILES-LABEL: module @dot_products_s8u8
// TILES: llvm.call_intrinsic "llvm.x86.tdpbsud"
// TILES-LABEL: module @dot_products_tiles
// TILES: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// TILES: llvm.call_intrinsic "llvm.x86.tilerelease"
