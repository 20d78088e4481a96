// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions,func.func(graph-to-tile,cse,task-update-in-place,task-copy-results),task-update-state,tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases{target=x86-64-v4})' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions,func.func(graph-to-tile,cse,task-update-in-place,task-copy-results),task-update-state,tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases{target=x86-64-v4 overwrite=false})' | FileCheck %s --check-prefix=OFF

!t = !graph.tensor<[1024, 1024], f32>
!s = !graph.tensor<[8, 8], f32>
!n = !graph.tensor<[], i64>
!b = !graph.tensor<[], i1>

// A large carried value is computed where the old one is, behind what else reads that.
// CHECK:           tile.counters = {{.*}}overwritten = 1
// CHECK-LABEL:   task.program @large
// CHECK:           %[[BOTH:.*]] = task.buffer arena : !graph.tensor<[1024, 1024], f32>
// CHECK:           %[[OLD:.*]] = task.view %[[BOTH]] loop 0 rotate 1
// CHECK:           task.loop
// CHECK:             task.space @{{.*}}(%[[OLD]]) to (%{{.*}})
// CHECK:             task.space @{{.*}}(%[[OLD]]{{.*}}) to (%[[OLD]])
// OFF-NOT:       overwritten
// OFF-LABEL:     task.program @large
// OFF:             task.buffer arena : !graph.tensor<[2, 1024, 1024], f32>
func.func @large(%x: !t {graph.name = "x"}) -> (!t {graph.name = "y"}) {
  %most = graph.constant dense<5> : tensor<i64> -> !n
  %0 = graph.unary neg %x : !t
  %y = graph.while max %most : !n carry %0 : !t {
  ^bb0(%number: !n, %old: !t):
    %turned = graph.transpose %old [1, 0] : !t
    %next = graph.binary add %old, %turned : !t
    %go = graph.constant dense<true> : tensor<i1> -> !b
    graph.yield %go, %next : !b, !t
  } -> !t
  return %y : !t
}

// Of others, two slices cost less than a wait; and what is read elsewhere, or later, stays.
// CHECK-LABEL:   task.program @small
// CHECK:           task.buffer arena : !graph.tensor<[2, 8, 8], f32>
func.func @small(%x: !s {graph.name = "x"}) -> (!s {graph.name = "y"}) {
  %most = graph.constant dense<5> : tensor<i64> -> !n
  %0 = graph.unary neg %x : !s
  %y = graph.while max %most : !n carry %0 : !s {
  ^bb0(%number: !n, %old: !s):
    %next = graph.unary tanh %old : !s
    %go = graph.constant dense<true> : tensor<i1> -> !b
    graph.yield %go, %next : !b, !s
  } -> !s
  return %y : !s
}

// CHECK-LABEL:   task.program @elsewhere
// CHECK:           task.buffer arena : !graph.tensor<[2, 1024, 1024], f32>
func.func @elsewhere(%x: !t {graph.name = "x"}) -> (!t {graph.name = "y"}) {
  %most = graph.constant dense<5> : tensor<i64> -> !n
  %0 = graph.unary neg %x : !t
  %y = graph.while max %most : !n carry %0 : !t {
  ^bb0(%number: !n, %old: !t):
    %next = graph.transpose %old [1, 0] : !t
    %go = graph.constant dense<true> : tensor<i1> -> !b
    graph.yield %go, %next : !b, !t
  } -> !t
  return %y : !t
}
