// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions,func.func(graph-to-tile,cse,task-update-in-place,task-copy-results),task-update-state,tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases)' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions,func.func(graph-to-tile,cse,task-update-in-place{enable=false},task-copy-results),task-update-state,tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases)' | FileCheck %s --check-prefix=ALWAYS

!t = !graph.tensor<[v, 8], f32>
!i = !graph.tensor<[1, 1], i64>
!u = !graph.tensor<[1, 8], f32>
!n = !graph.tensor<[], i64>

// What a loop carries is updated where it lies in all iterations, once what reads it has; otherwise it has two slices in
// turns, and a copy from one to the other.
// CHECK-LABEL:   task.program @carried
// CHECK:           %[[CODES:.*]] = task.buffer arena : !graph.tensor<[v, 8], f32>
// CHECK:           %[[WRITTEN:.*]] = task.view %[[CODES]] loop 0 rotate 1
// CHECK:           task.loop
// CHECK:               task.space @{{.*}}(%[[WRITTEN]], {{.*}}) to (%[[WRITTEN]])
// ALWAYS-LABEL:  task.program @carried
// ALWAYS:          task.buffer arena : !graph.tensor<[2, v, 8], f32>
func.func @carried(%x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}) -> (!t {graph.name = "y"}) {
  %most = graph.constant dense<5> : tensor<i64> -> !n
  %0 = graph.unary neg %x : !t
  %y = graph.while max %most : !n carry %0 : !t {
  ^bb0(%number: !n, %codes: !t):
    %1 = graph.slice %codes starts [0, 0] sizes [1, 8] steps [1, 1] : !t
    %2 = graph.unary tanh %1 : !u
    %3 = graph.scatter_nd add %codes, %i, %2 : !t, !i, !u
    %go = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    graph.yield %go, %3 : !graph.tensor<[], i1>, !t
  } -> !t
  return %y : !t
}
