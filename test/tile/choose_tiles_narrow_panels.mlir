// A last panel whose columns fit one vector is computed in it: of 80 columns the third one, of 100 the fourth.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 narrow-panels=false" | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --codegen-emit-programs | FileCheck %s --check-prefix=EMITTED
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512vnni | FileCheck %s --check-prefix=WORDS
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+avx512vnni --codegen-emit-programs | FileCheck %s --check-prefix=NARROW

// CHECK: narrow_panels = 3 : i64
// OFF-NOT: narrow_panels
// OFF-NOT: last_vectors

// CHECK-LABEL: tile.program @product
// CHECK-SAME: kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2, last_vectors = 1>
// EMITTED-LABEL: func.func @product
tile.program @product symbols [s0](%x: !graph.tensor<[s0, 64], f32>, %w: !graph.tensor<[64, 80], f32, #tile.panels<axis = 1, width = 32>>)
    -> (!graph.tensor<[s0, 80], f32>) {
  %0 = tile.compute [s0, 80, 64] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 64], f32>, !graph.tensor<[64, 80], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[s0, 80], f32>
  tile.return %0 : !graph.tensor<[s0, 80], f32>
}

// 24 columns of the last panel are two vectors.
// CHECK-LABEL: tile.program @whole
// CHECK-NOT: last_vectors
// CHECK: tile.return
tile.program @whole symbols [s0](%x: !graph.tensor<[s0, 64], f32>, %w: !graph.tensor<[64, 56], f32, #tile.panels<axis = 1, width = 32>>)
    -> (!graph.tensor<[s0, 56], f32>) {
  %0 = tile.compute [s0, 56, 64] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 64], f32>, !graph.tensor<[64, 56], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[s0, 56], f32>
  tile.return %0 : !graph.tensor<[s0, 56], f32>
}

// The micro-kernel is told how many channels a panel has.
// CHECK-LABEL: tile.program @convolution
// CHECK-SAME: #tile.convolution<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2, last_vectors = 1>
// EMITTED-LABEL: func.func @convolution
// EMITTED: %{{.*}} = arith.minsi %c32{{.*}} : index
// EMITTED: %[[COUNT:.*]] = arith.minsi %c32{{.*}} : index
// EMITTED-NEXT: %[[COLUMNS:.*]] = arith.index_cast %[[COUNT]] : index to i64
// EMITTED: call @freestone_window_f32_14x32x2(%{{[^,]*}}, %{{[^,]*}}, %[[COLUMNS]],
tile.program @convolution symbols [n](%x: !graph.tensor<[n, 64, 28, 28], f32>,
                                      %k: !graph.tensor<[64, 3, 3, 100], f32, #tile.panels<axis = 3, width = 32>>)
    -> (!graph.tensor<[n, 100, 28, 28], f32>) {
  %0 = tile.compute [n, 100, 28, 28, 64, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d1)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 64, 28, 28], f32>, !graph.tensor<[64, 3, 3, 100], f32, #tile.panels<axis = 3, width = 32>>) -> !graph.tensor<[n, 100, 28, 28], f32>
  tile.return %0 : !graph.tensor<[n, 100, 28, 28], f32>
}

// Dot products of words have panels of 32 columns, of two vectors: of 40 columns the second is one.
// WORDS: narrow_panels = 3 : i64
// WORDS-LABEL: tile.program @words
// WORDS-SAME: #tile.dot_product_kernel<unit = vectors, groups = {{[0-9]+}}, last_vectors = 1>
// NARROW-LABEL: func.func @words
// NARROW: %[[IS_NARROW:.*]] = arith.cmpi sle, %{{[0-9]+}}, %c16{{.*}} : index
// NARROW: scf.if %[[IS_NARROW]]
// NARROW: call @freestone_dot_products_u8s8_i32_in_place_narrow
// NARROW: else
// NARROW: call @freestone_dot_products_u8s8_i32_in_place(
// NARROW: call @freestone_dot_products_u8s8_i32_narrow
// NARROW: call @freestone_dot_products_u8s8_i32(
tile.program @words symbols [s0](%x: !graph.tensor<[s0, 640], ui8>, %w: !graph.tensor<[640, 40], i8>) -> (!graph.tensor<[s0, 40], i32>) {
  %0 = tile.compute [s0, 40, 640] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %c = arith.extui %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %p = arith.muli %c, %d : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[s0, 640], ui8>, !graph.tensor<[640, 40], i8>) -> !graph.tensor<[s0, 40], i32>
  tile.return %0 : !graph.tensor<[s0, 40], i32>
}
