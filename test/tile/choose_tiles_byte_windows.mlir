// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+avx512vnni" | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512vnni --codegen-emit-programs | FileCheck %s --check-prefix=CODE

!x = !graph.tensor<[b, c, h, w], ui8>
!v = !graph.tensor<[o, c, 3, 3], i8>
!y = !graph.tensor<[b, o, h, w], i32>
#v = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>

// Rows are copied with masks, and beyond them the zero point; then joined.
// CHECK-LABEL: tile.program @padded
// CHECK-SAME: #tile.tree<kernel = #tile.dot_product_kernel<
// CODE-LABEL: func.func @padded
// CODE-DAG: arith.constant dense<117> : vector<32xi8>
// CODE: vector.maskedload {{.*}} : memref<?xi8>, vector<32xi1>, vector<32xi8> into vector<32xi8>
// CODE: vector.maskedstore
// CODE: call @freestone_dot_products_s8u8
tile.program @padded symbols [b, c, h, w, o](%x: !x, %v: !v) -> (!y) {
  %0 = tile.compute [b, o, h, w, c, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>, %v : #v)
      fill [117 : i8, unit] init [0 : i32] {
  ^bb0(%p: i8, %q: i8, %sum: i32):
    %wide_p = arith.extui %p : i8 to i32
    %wide_q = arith.extsi %q : i8 to i32
    %product = arith.muli %wide_p, %wide_q : i32
    %s = arith.addi %sum, %product : i32
    tile.yield %s : i32
  } : (!x, !v) -> !y
  tile.return %0 : !y
}

// Of columns two apart, every second byte is taken.
// CHECK-LABEL: tile.program @strided
// CHECK-SAME: #tile.tree<kernel = #tile.dot_product_kernel<
// CODE-LABEL: func.func @strided
// CODE: vector.maskedload {{.*}} : memref<?xi8>, vector<64xi1>, vector<64xi8> into vector<64xi8>
// CODE: vector.shuffle {{.*}} [0, 2, 4, {{.*}}, 62] : vector<64xi8>, vector<64xi8>
!z = !graph.tensor<[b, c, 2*h + 1, 2*w + 1], ui8>
tile.program @strided symbols [b, c, h, w, o](%x: !z, %v: !v) -> (!y) {
  %0 = tile.compute [b, o, h, w, c, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>, %v : #v) init [0 : i32] {
  ^bb0(%p: i8, %q: i8, %sum: i32):
    %wide_p = arith.extui %p : i8 to i32
    %wide_q = arith.extsi %q : i8 to i32
    %product = arith.muli %wide_p, %wide_q : i32
    %s = arith.addi %sum, %product : i32
    tile.yield %s : i32
  } : (!z, !v) -> !y
  tile.return %0 : !y
}

// Columns that are five apart are not copied by rows, and columns with a fill not loaded otherwise.
// CHECK-LABEL: tile.program @sparse
// CHECK-SAME: #tile.choice<
tile.program @sparse symbols [b, c, h, w, o](%x: !graph.tensor<[b, c, 5*h, 5*w], ui8>, %v: !v) -> (!y) {
  %0 = tile.compute [b, o, h, w, c, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 5 + d5 - 1, d3 * 5 + d6 - 1)>, %v : #v)
      fill [117 : i8, unit] init [0 : i32] {
  ^bb0(%p: i8, %q: i8, %sum: i32):
    %wide_p = arith.extui %p : i8 to i32
    %wide_q = arith.extsi %q : i8 to i32
    %product = arith.muli %wide_p, %wide_q : i32
    %s = arith.addi %sum, %product : i32
    tile.yield %s : i32
  } : (!graph.tensor<[b, c, 5*h, 5*w], ui8>, !v) -> !y
  tile.return %0 : !y
}
