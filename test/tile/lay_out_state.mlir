// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,tile-lay-out-state,tile-inline-producers,cse))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,tile-lay-out-state{enable=false},tile-inline-producers,cse))' \
// RUN:   | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,tile-lay-out-state{width=16},tile-inline-producers,cse))' \
// RUN:   | FileCheck %s --check-prefix=OFF

// Forward and backward products read the panels, the gradient is written in panels, and the update runs over the stored
// order.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    laid_out = 2
// CHECK:         %[[W:.*]] = tile.view %arg2 : <[2, 50, 32], f32> -> <[64, 50], f32, #[[PANELS:.*panels<axis = 0, width = 32>]]>
// CHECK-NOT:     graph.reshape
// CHECK:         tile.compute [b, 64, 50] [parallel, parallel, reduction] ins(%arg0 : {{.*}}, %[[W]] :
// CHECK:         tile.compute [b, 50, 64] [parallel, parallel, reduction] ins(%arg1 : {{.*}}, %[[W]] :
// CHECK:         %[[G:.*]] = tile.compute [50, 64, b] [parallel, parallel, reduction] ins(%arg0 : {{.*}}, %arg1 :
// CHECK:         -> !graph.tensor<[50, 64], f32, #tile.panels<axis = 1, width = 32>>
// CHECK:         %[[STORED:.*]] = tile.view %[[G]] : <[50, 64], f32, #tile.panels<axis = 1, width = 32>> -> <[2, 50, 32], f32>
// CHECK:         tile.compute [2, 50, 32] [parallel, parallel, parallel] ins(%arg2 : {{.*}}, %[[STORED]] :

// OFF-NOT: tile.view
// OFF-NOT: panels
func.func @main(%x: !graph.tensor<[b, 50], f32>, %dy: !graph.tensor<[b, 64], f32>,
                %p: !graph.tensor<[2, 50, 32], f32> {graph.state = "w"})
    -> (!graph.tensor<[b, 64], f32>, !graph.tensor<[b, 50], f32>, !graph.tensor<[2, 50, 32], f32> {graph.state = "w"}) {
  %t = graph.transpose %p [0, 2, 1] : !graph.tensor<[2, 50, 32], f32>
  %w = graph.reshape %t : !graph.tensor<[2, 32, 50], f32> -> !graph.tensor<[64, 50], f32>
  %wt = graph.transpose %w [1, 0] : !graph.tensor<[64, 50], f32>
  %y = graph.contract %x, %wt batch [] x [] contract [1] x [0] : !graph.tensor<[b, 50], f32>, !graph.tensor<[50, 64], f32>
  %dx = graph.contract %dy, %wt batch [] x [] contract [1] x [1] : !graph.tensor<[b, 64], f32>, !graph.tensor<[50, 64], f32>
  %g = graph.contract %x, %dy batch [] x [] contract [0] x [0] : !graph.tensor<[b, 50], f32>, !graph.tensor<[b, 64], f32>
  %gt = graph.transpose %g [1, 0] : !graph.tensor<[50, 64], f32>
  %gr = graph.reshape %gt : !graph.tensor<[64, 50], f32> -> !graph.tensor<[2, 32, 50], f32>
  %gp = graph.transpose %gr [0, 2, 1] : !graph.tensor<[2, 32, 50], f32>
  %n = graph.binary sub %p, %gp : !graph.tensor<[2, 50, 32], f32>
  return %y, %dx, %n : !graph.tensor<[b, 64], f32>, !graph.tensor<[b, 50], f32>, !graph.tensor<[2, 50, 32], f32>
}

// A matrix with columns last; an input in place of the state; a gradient with another user stays row-major.
// CHECK-LABEL: func.func @columns_last
// CHECK-SAME:    laid_out = 1
// CHECK:         tile.view %arg1 : <[2, 50, 32], f32> -> <[50, 64], f32, #tile.panels<axis = 1, width = 32>>
// CHECK-NOT:     tile.view
func.func @columns_last(%x: !graph.tensor<[b, 50], f32>, %p: !graph.tensor<[2, 50, 32], f32> {graph.state = "w"},
                        %q: !graph.tensor<[2, 50, 32], f32>, %dy: !graph.tensor<[b, 64], f32>)
    -> (!graph.tensor<[b, 64], f32>, !graph.tensor<[b, 64], f32>, !graph.tensor<[50, 64], f32>, !graph.tensor<[2, 50, 32], f32>) {
  %t = graph.transpose %p [1, 0, 2] : !graph.tensor<[2, 50, 32], f32>
  %w = graph.reshape %t : !graph.tensor<[50, 2, 32], f32> -> !graph.tensor<[50, 64], f32>
  %y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 50], f32>, !graph.tensor<[50, 64], f32>
  %u = graph.transpose %q [1, 0, 2] : !graph.tensor<[2, 50, 32], f32>
  %v = graph.reshape %u : !graph.tensor<[50, 2, 32], f32> -> !graph.tensor<[50, 64], f32>
  %z = graph.contract %x, %v batch [] x [] contract [1] x [0] : !graph.tensor<[b, 50], f32>, !graph.tensor<[50, 64], f32>
  %g = graph.contract %x, %dy batch [] x [] contract [0] x [0] : !graph.tensor<[b, 50], f32>, !graph.tensor<[b, 64], f32>
  %gr = graph.reshape %g : !graph.tensor<[50, 64], f32> -> !graph.tensor<[50, 2, 32], f32>
  %gp = graph.transpose %gr [1, 0, 2] : !graph.tensor<[50, 2, 32], f32>
  return %y, %z, %g, %gp : !graph.tensor<[b, 64], f32>, !graph.tensor<[b, 64], f32>, !graph.tensor<[50, 64], f32>, !graph.tensor<[2, 50, 32], f32>
}
