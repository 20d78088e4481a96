// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse{cache-bytes=16777216}))' \
// RUN:   | FileCheck %s --check-prefix=LARGE
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse{long-rows=false}))' \
// RUN:   | FileCheck %s --check-prefix=APART

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

// Rows whose length a run tells are assumed to be short, though they are longer than the cache at typical sizes: where
// they are many, and no pass keeps their elements for another, passes of long rows cost no more in one program.
// CHECK-LABEL: func.func @many
// CHECK-SAME:    long_rows = 1 : i64
// CHECK-SAME:    rows = 2 : i64
// APART-LABEL: func.func @many
// APART-NOT:     long_rows
// APART-SAME:    rows = 1 : i64
func.func @many(%x: !graph.tensor<[96, b, 12544], f32>) -> !graph.tensor<[96, b, 12544], f32> {
  %s = graph.reduce add %x axes [1, 2] : !graph.tensor<[96, b, 12544], f32>
  %m = graph.unary tanh %s : !graph.tensor<[96], f32>
  %e = graph.broadcast %m dims [0] : !graph.tensor<[96], f32> -> !graph.tensor<[96, b, 12544], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[96, b, 12544], f32>
  return %c : !graph.tensor<[96, b, 12544], f32>
}

// Few rows, and rows that are long in every run, are programs of their own.
// CHECK-LABEL: func.func @few
// CHECK-NOT:     tile.group
// CHECK-LABEL: func.func @always
// CHECK-NOT:     tile.group
func.func @few(%x: !graph.tensor<[16, b, 12544], f32>) -> !graph.tensor<[16, b, 12544], f32> {
  %s = graph.reduce add %x axes [1, 2] : !graph.tensor<[16, b, 12544], f32>
  %e = graph.broadcast %s dims [0] : !graph.tensor<[16], f32> -> !graph.tensor<[16, b, 12544], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[16, b, 12544], f32>
  return %c : !graph.tensor<[16, b, 12544], f32>
}
func.func @always(%x: !graph.tensor<[m, 400000], f32>) -> !graph.tensor<[m, 400000], f32> {
  %s = graph.reduce add %x axes [1] : !graph.tensor<[m, 400000], f32>
  %e = graph.broadcast %s dims [0] : !graph.tensor<[m], f32> -> !graph.tensor<[m, 400000], f32>
  %c = graph.binary sub %x, %e : !graph.tensor<[m, 400000], f32>
  return %c : !graph.tensor<[m, 400000], f32>
}
