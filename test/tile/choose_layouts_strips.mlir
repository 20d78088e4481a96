// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(tile-choose-layouts{quads=true})' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(tile-choose-layouts{quads=true signs=true})' | FileCheck %s --check-prefix=SIGNS
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(tile-choose-layouts{quads=true strips=false})' | FileCheck %s --check-prefix=PLAIN
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(tile-choose-layouts{quads=true},tile-outline,tile-choose-tiles{target=x86-64-v4,+avx512vnni})' \
// RUN:   | FileCheck %s --check-prefix=TREE

#picture = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>
#filters = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>

// Filters are in strips of the words of dot products: no tile packs them.
// CHECK:       module attributes {tile.counters = {{.*}}packed_strips = 1 : i64
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[PACKED:[a-z0-9]*]]: !graph.tensor<[40, 20, 3, 3], i8, #tile.strips<of = 4>> {graph.weight = "w:packed"}
// CHECK:         tile.compute [n, 40, 14, 14, 20, 3, 3] {{.*}} ins(%arg0 : {{.*}}, %[[PACKED]]
// CHECK-LABEL: func.func @init
// CHECK-SAME:    -> (!graph.tensor<[2, 3, 32, 64], i8>
// CHECK:         graph.reshape {{.*}} -> <[40, 180], i8>
// CHECK:         tile.compute [2, 3, 32, 64] {{.*}} fill [0 : i8]
// PLAIN-NOT:   tile.strips
// TREE:        tile.program @p0
// TREE-SAME:     #tile.dot_product_kernel<unit = vectors
// TREE-NOT:      #tile.packed<compute = 0, input = 1
// TREE-SAME:     #tile.packed<compute = 0, input = 0, kept = 2
// TREE:        func.func @main
func.func @main(%x: !graph.tensor<[n, 20, 14, 14], ui8>) -> !graph.tensor<[n, 40, 14, 14], i32> {
  %w = graph.weight "w" : !graph.tensor<[40, 20, 3, 3], i8>
  %y = tile.compute [n, 40, 14, 14, 20, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction] ins(%x : #picture, %w : #filters) fill [7 : i8, unit] init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extui %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[n, 20, 14, 14], ui8>, !graph.tensor<[40, 20, 3, 3], i8>) -> !graph.tensor<[n, 40, 14, 14], i32>
  return %y : !graph.tensor<[n, 40, 14, 14], i32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d2, d1)>

// Vectors would flip rows beside columns with signs.
// CHECK-LABEL: func.func @signed
// CHECK-NOT:     tile.strips
// SIGNS-LABEL: func.func @signed
// SIGNS-SAME:    tile.strips
func.func @signed(%x: !graph.tensor<[100, n], i8>) -> !graph.tensor<[40, n], i32> {
  %w = graph.weight "w" : !graph.tensor<[40, 100], i8>
  %y = tile.compute [40, n, 100] [parallel, parallel, reduction] ins(%w : #rows, %x : #columns) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[40, 100], i8>, !graph.tensor<[100, n], i8>) -> !graph.tensor<[40, n], i32>
  return %y : !graph.tensor<[40, n], i32>
}

// -----

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d2, d1)>

// A single row is summed in place.
// CHECK-LABEL: func.func @row
// CHECK-NOT:     tile.strips
func.func @row(%x: !graph.tensor<[100, n], ui8>) -> !graph.tensor<[1, n], i32> {
  %w = graph.weight "w" : !graph.tensor<[1, 100], i8>
  %y = tile.compute [1, n, 100] [parallel, parallel, reduction] ins(%w : #rows, %x : #columns) init [0 : i32] {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extui %b : i8 to i32
    %p = arith.muli %wide_a, %wide_b : i32
    %s = arith.addi %sum, %p : i32
    tile.yield %s : i32
  } : (!graph.tensor<[1, 100], i8>, !graph.tensor<[100, n], ui8>) -> !graph.tensor<[1, n], i32>
  return %y : !graph.tensor<[1, n], i32>
}
