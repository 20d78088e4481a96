// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile),tile-outline)' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile),tile-outline{share=false})' | FileCheck %s --check-prefix=ALONE
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile),tile-outline{generalise=false})' \
// RUN:   | FileCheck %s --check-prefix=CONSTANT

// Two contractions of different constant sizes share one program; its symbols are named in order.
// CHECK:       module attributes {tile.counters = {duplicates = 1 : i64, generalised = 4 : i64, lowered = 2 : i64, programs = 1 : i64}}
// CHECK:       tile.program @p0 symbols [s0, s1, s2](%{{.*}}: !graph.tensor<[s0, s2], f32>, %{{.*}}: !graph.tensor<[s2, s1], f32>) -> (!graph.tensor<[s0, s1], f32>)
// CHECK:         tile.compute [s0, s1, s2] [parallel, parallel, reduction]
// CHECK-LABEL: func.func @main
// CHECK:         tile.call @p0(%arg0, %arg1) [s0 = 2*b, s1 = 64, s2 = 32]
// CHECK:         tile.call @p0(%{{.*}}, %arg2) [s0 = 2*b, s1 = 16, s2 = 64]

// ALONE-COUNT-2: tile.program
// CONSTANT:      tile.program @p0 symbols [s0](%{{.*}}: !graph.tensor<[s0, 32], f32>
// CONSTANT:      tile.program @p1
func.func @main(%x: !graph.tensor<[2*b, 32], f32>, %w: !graph.tensor<[32, 64], f32>, %v: !graph.tensor<[64, 16], f32>)
    -> !graph.tensor<[2*b, 16], f32> {
  %y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[2*b, 32], f32>, !graph.tensor<[32, 64], f32>
  %z = graph.contract %y, %v batch [] x [] contract [1] x [0] : !graph.tensor<[2*b, 64], f32>, !graph.tensor<[64, 16], f32>
  return %z : !graph.tensor<[2*b, 16], f32>
}
