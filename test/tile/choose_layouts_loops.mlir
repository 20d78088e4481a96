// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions,func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts)' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions,func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{in-loops=false})' \
// RUN:   | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions,func.func(graph-to-tile,tile-inline-producers,tile-fuse),tile-choose-layouts{parts=true})' \
// RUN:   | FileCheck %s --check-prefix=PARTS

!x = !graph.tensor<[t, b, 64], f32>
!h = !graph.tensor<[b, 64], f32>
!w = !graph.tensor<[64, 64], f32>

// What each step multiplies by is packed before the loop, with its transposition; the plain one is captured no more.
// CHECK-DAG:   #[[ACROSS:.*]] = affine_map<(d0, d1, d2) -> (d0 * 32 + d2, d1)>
// CHECK:       tile.counters = {{.*}}packed_in_loops = 1
// CHECK-LABEL: func.func @cell
// CHECK:         %[[STORED:.*]] = tile.compute [2, 64, 32] [parallel, parallel, parallel] ins(%arg2 : #[[ACROSS]])
// CHECK:         %[[PACKED:.*]] = tile.view %[[STORED]] : <[2, 64, 32], f32> -> <[64, 64], f32, #tile.panels<axis = 1, width = 32>>
// CHECK:         tile.loop @cell_body trips t carry(%arg1) as [-1] over(%arg0) with(%[[PACKED]])
// CHECK:       func.func private @cell_body(%arg0: {{.*}}, %arg1: {{.*}}, %[[W:.*]]: !graph.tensor<[64, 64], f32, #tile.panels<axis = 1, width = 32>>)
// CHECK:         tile.compute [b, 64, 64] {{.*}} %[[W]] : #
// What a matrix unit multiplies in parts of bf16 is packed so as well, from its panels, in runs with rows enough.
// PARTS:       tile.counters = {{.*}}parts_in_loops = 1
// PARTS-LABEL: func.func @cell
// PARTS:         %[[STORED:.*]] = tile.compute [2, 64, 32]
// PARTS:         %[[PACKED:.*]] = tile.view %[[STORED]]
// PARTS:         %[[WORDS:.*]] = tile.compute [2*min(b floordiv 12, 1), 2, 3, 16, 32] {{.*}} ins(%[[STORED]] : {{.*}}, %[[STORED]] : {{.*}})
// PARTS:           arith.select
// PARTS:         %[[PARTS:.*]] = tile.view %[[WORDS]] : {{.*}} -> <[64, 64*min(b floordiv 12, 1)], f32, #tile.parts<count = 3, fewest_rows = 12>>
// PARTS:         tile.loop @cell_body {{.*}} with(%[[PACKED]], %[[PARTS]])
// PARTS:       func.func private @cell_body({{.*}}, %[[PARTS:.*]]: !graph.tensor<[64, 64*min(b floordiv 12, 1)], f32, #tile.parts<count = 3, fewest_rows = 12>>)
// PARTS:         tile.compute [b, 64, 64] {{.*}} reads(%[[PARTS]])
// OFF-LABEL:   func.func @cell
// OFF-NOT:       panels
func.func @cell(%x: !x, %h: !h, %w: !w) -> !h {
  %last = graph.scan carry %h : !h over %x : !x {
  ^bb0(%state: !h, %slice: !h):
    %0 = graph.transpose %w [1, 0] : !w
    %1 = graph.contract %state, %0 batch [] x [] contract [1] x [0] : !h, !w
    %2 = graph.binary add %1, %slice : !h
    graph.yield %2 : !h
  } -> !h
  return %last : !h
}

// A single row reads it in place, and so do columns that fill no panel.
// CHECK-LABEL: func.func @row
// CHECK:         tile.loop @row_body {{.*}} with(%arg2)
// CHECK-LABEL: func.func @narrow
// CHECK:         tile.loop @narrow_body {{.*}} with(%arg2)
func.func @row(%x: !graph.tensor<[t, 1, 64], f32>, %h: !graph.tensor<[1, 64], f32>, %w: !w) -> !graph.tensor<[1, 64], f32> {
  %last = graph.scan carry %h : !graph.tensor<[1, 64], f32> over %x : !graph.tensor<[t, 1, 64], f32> {
  ^bb0(%state: !graph.tensor<[1, 64], f32>, %slice: !graph.tensor<[1, 64], f32>):
    %0 = graph.contract %state, %w batch [] x [] contract [1] x [0] : !graph.tensor<[1, 64], f32>, !w
    %1 = graph.binary add %0, %slice : !graph.tensor<[1, 64], f32>
    graph.yield %1 : !graph.tensor<[1, 64], f32>
  } -> !graph.tensor<[1, 64], f32>
  return %last : !graph.tensor<[1, 64], f32>
}
func.func @narrow(%x: !graph.tensor<[t, b, 4], f32>, %h: !graph.tensor<[b, 4], f32>, %w: !graph.tensor<[4, 4], f32>) -> !graph.tensor<[b, 4], f32> {
  %last = graph.scan carry %h : !graph.tensor<[b, 4], f32> over %x : !graph.tensor<[t, b, 4], f32> {
  ^bb0(%state: !graph.tensor<[b, 4], f32>, %slice: !graph.tensor<[b, 4], f32>):
    %0 = graph.contract %state, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 4], f32>, !graph.tensor<[4, 4], f32>
    %1 = graph.binary add %0, %slice : !graph.tensor<[b, 4], f32>
    graph.yield %1 : !graph.tensor<[b, 4], f32>
  } -> !graph.tensor<[b, 4], f32>
  return %last : !graph.tensor<[b, 4], f32>
}
