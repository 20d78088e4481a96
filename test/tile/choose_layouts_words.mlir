// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(tile-choose-layouts{quads=true})' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(tile-choose-layouts{quads=true signs=true})' | FileCheck %s --check-prefix=SIGNS
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(tile-choose-layouts)' | FileCheck %s --check-prefix=PLAIN
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(tile-choose-layouts{quads=true},tile-outline,tile-choose-tiles{target=x86-64-v4,+avx512vnni})' \
// RUN:   | FileCheck %s --check-prefix=TREE

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d1, d2)>

// A matrix of weights is in the words of dot products: a transposition is merged with the packing, and no tile packs it.
// CHECK:       module attributes {tile.counters = {{.*}}packed_words = 1 : i64
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[PACKED:[a-z0-9]*]]: !graph.tensor<[100, 40], i8, #tile.words<of = 4>> {graph.weight = "w:packed"}
// CHECK:         tile.compute [n, 40, 100] {{.*}} ins(%arg0 : {{.*}}, %[[PACKED]]
// CHECK-LABEL: func.func @init
// CHECK-SAME:    -> (!graph.tensor<[2, 2, 16, 32, 4], i8>
// CHECK:         tile.compute [2, 2, 16, 32, 4] {{.*}} fill [0 : i8]
// PLAIN-NOT:   tile.words
// TREE:        tile.program @p0
// TREE-SAME:     #tile.dot_product_kernel<unit = vectors
// TREE-SAME:     #tile.packed<compute = 0, input = 0
// TREE-NOT:      #tile.packed<compute = 0, input = 1
// TREE:        func.func @main
func.func @main(%x: !graph.tensor<[n, 100], ui8>) -> !graph.tensor<[n, 40], i32> {
  %w = graph.weight "w" : !graph.tensor<[40, 100], i8>
  %y = tile.compute [n, 40, 100] [parallel, parallel, reduction] ins(%x : #rows, %w : #columns) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[n, 100], ui8>, !graph.tensor<[40, 100], i8>) -> !graph.tensor<[n, 40], i32>
  return %y : !graph.tensor<[n, 40], i32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d1, d2)>

// Vectors would flip signed rows, which takes sums of the columns.
// CHECK-LABEL: func.func @signed
// CHECK-NOT:     tile.words
// SIGNS-LABEL: func.func @signed
// SIGNS-SAME:    tile.words
func.func @signed(%x: !graph.tensor<[n, 100], i8>) -> !graph.tensor<[n, 40], i32> {
  %w = graph.weight "w" : !graph.tensor<[40, 100], i8>
  %y = tile.compute [n, 40, 100] [parallel, parallel, reduction] ins(%x : #rows, %w : #columns) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[n, 100], i8>, !graph.tensor<[40, 100], i8>) -> !graph.tensor<[n, 40], i32>
  return %y : !graph.tensor<[n, 40], i32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d1, d2)>

// A panel of a single column would be padding.
// CHECK-LABEL: func.func @column
// CHECK-NOT:     tile.words
func.func @column(%x: !graph.tensor<[n, 100], ui8>) -> !graph.tensor<[n, 1], i32> {
  %w = graph.weight "w" : !graph.tensor<[1, 100], i8>
  %y = tile.compute [n, 1, 100] [parallel, parallel, reduction] ins(%x : #rows, %w : #columns) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[n, 100], ui8>, !graph.tensor<[1, 100], i8>) -> !graph.tensor<[n, 1], i32>
  return %y : !graph.tensor<[n, 1], i32>
}

// -----

// A batch of matrices has no words.
// CHECK-LABEL: func.func @batch
// CHECK-NOT:     tile.words
func.func @batch(%x: !graph.tensor<[3, n, 100], ui8>) -> !graph.tensor<[3, n, 40], i32> {
  %w = graph.weight "w" : !graph.tensor<[3, 40, 100], i8>
  %y = tile.compute [3, n, 40, 100] [parallel, parallel, parallel, reduction] ins(%x : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %w : affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[3, n, 100], ui8>, !graph.tensor<[3, 40, 100], i8>) -> !graph.tensor<[3, n, 40], i32>
  return %y : !graph.tensor<[3, n, 40], i32>
}
