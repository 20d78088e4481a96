// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse{cache-bytes=16777216}))' \
// RUN:   | FileCheck %s --check-prefix=LARGE

// Rows of unknown length are assumed to be short, and their passes are fused.
// CHECK-LABEL: func.func @unknown
// CHECK-SAME:    rows = 4 : i64
// LARGE-LABEL: func.func @unknown
// LARGE-SAME:    rows = 4 : i64
func.func @unknown(%x: !graph.tensor<[m, n], f32>) -> !graph.tensor<[m, n], f32> {
  %y = graph.softmax %x axis 1 : !graph.tensor<[m, n], f32>
  return %y : !graph.tensor<[m, n], f32>
}

// Rows that exceed the cache, by the bounds or the hint of their size, are not fused, except for the sum and its
// reciprocal, unless the cache is larger.
// CHECK-LABEL: func.func @bounded
// CHECK-SAME:    rows = 1 : i64
// CHECK:         math.exp
// CHECK:         tile.group
// LARGE-LABEL: func.func @bounded
// LARGE-SAME:    rows = 4 : i64
func.func @bounded(%x: !graph.tensor<[m, n], f32>) -> !graph.tensor<[m, n], f32>
    attributes {graph.symbols = {n = #sym.bounds<[2, 400000], hint 200000>}} {
  %y = graph.softmax %x axis 1 : !graph.tensor<[m, n], f32>
  return %y : !graph.tensor<[m, n], f32>
}

// CHECK-LABEL: func.func @least
// CHECK-SAME:    rows = 1 : i64
func.func @least(%x: !graph.tensor<[m, n], f32>) -> !graph.tensor<[m, n], f32>
    attributes {graph.symbols = {n = #sym.bounds<[200000, 400000]>}} {
  %y = graph.softmax %x axis 1 : !graph.tensor<[m, n], f32>
  return %y : !graph.tensor<[m, n], f32>
}
