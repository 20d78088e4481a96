// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(task-copy-results),tile-outline,tile-choose-tiles,task-form-phases,task.program(task-order-phases,task-plan-memory,task-check-order))' | FileCheck %s

// A loop reads slices of what it scans, has two slices of a carried value in turns, and reads a carried value that is
// collected where the iteration before has put it, behind the first value. All of it lives through the loop.
// CHECK-LABEL: task.program @scanned
// CHECK:         %[[X:.*]] = task.buffer input "x"
// CHECK:         %[[H:.*]] = task.buffer arena live [0, 6) : !graph.tensor<[t + 1, n], f32>
// CHECK-NEXT:    %[[OLD:.*]] = task.view %[[H]] loop 0 step 4*n :
// CHECK-NEXT:    %[[NEW:.*]] = task.view %[[H]] loop 0 shift 1 step 4*n :
// CHECK-NEXT:    %[[ALL:.*]] = task.view %[[H]] shift 1 step 4*n : {{.*}} -> !graph.tensor<[t, n], f32>
// CHECK-NEXT:    %[[C:.*]] = task.buffer arena live [1, 6) : !graph.tensor<[2, n], f32>
// CHECK-NEXT:    %[[CELL:.*]] = task.view %[[C]] loop 0 rotate 2 step 4*n :
// CHECK-NEXT:    %[[NEXT:.*]] = task.view %[[C]] loop 0 shift 1 rotate 2 step 4*n :
// CHECK-NEXT:    %[[SLICE:.*]] = task.view %[[X]] loop 0 step 4*n :
// CHECK:         task.space @{{.*}} to (%[[H]])
// CHECK:         task.loop 0 "loop" trips t {
// CHECK-NEXT:      task.phase {{.*}} after all [] same []
// CHECK-NEXT:        task.space @{{.*}}(%[[OLD]], %[[SLICE]]) to (%[[NEW]])
// CHECK:           task.phase {{.*}} after all [] same []
// CHECK-NEXT:        task.space @{{.*}}(%[[CELL]], %[[OLD]]) to (%[[NEXT]])
// CHECK:         task.phase {{.*}} after all [] same []
// CHECK-NEXT:      task.space @{{.*}}(%[[CELL]])
// CHECK:           task.space @{{.*}}(%[[ALL]])
func.func private @body(%h: !graph.tensor<[n], f32>, %c: !graph.tensor<[n], f32>, %x: !graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
  %sum = tile.compute [n] [parallel] ins(%h : affine_map<(d0) -> (d0)>, %x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %product = tile.compute [n] [parallel] ins(%c : affine_map<(d0) -> (d0)>, %h : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %product, %sum : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}
func.func @scanned(%x: !graph.tensor<[t, n], f32> {graph.name = "x"}, %h: !graph.tensor<[n], f32> {graph.name = "h"})
    -> (!graph.tensor<[n], f32> {graph.name = "cell"}, !graph.tensor<[t, n], f32> {graph.name = "all"}) {
  %r:3 = tile.loop @body trips t carry(%h, %h) as [0, -1] over(%x)
      : (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>)
      -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>)
  return %r#1, %r#2 : !graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>
}

// Both sides of a branch write its result. What one side waits for is no wait of the other, nor of what follows. The
// condition lives until all workers have read it.
// CHECK-LABEL: task.program @chosen
// CHECK:         %[[C:.*]] = task.buffer arena live [0, 4) : !graph.tensor<[], i1>
// CHECK:         %[[R:.*]] = task.buffer arena
// CHECK:         task.phase {{.*}} after all [] same []
// CHECK-NEXT:      task.space @{{.*}} to (%[[C]])
// CHECK:         task.branch "branch" if %[[C]] after all [0] : !graph.tensor<[], i1> {
// CHECK-NEXT:      task.phase {{.*}} after all [] same []
// CHECK-NEXT:        task.space @{{.*}} to (%[[R]])
// CHECK:         } else {
// CHECK-NEXT:      task.phase {{.*}} after all [] same []
// CHECK-NEXT:        task.space @{{.*}} to (%[[R]])
// CHECK:         task.phase {{.*}} after all [] same [2, 1]
func.func private @left(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
func.func private @right(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  return %x : !graph.tensor<[n], f32>
}
func.func @chosen(%x: !graph.tensor<[n], f32> {graph.name = "x"}) -> (!graph.tensor<[n], f32> {graph.name = "y"}) {
  %c = tile.compute [1] [reduction] ins(%x : affine_map<(d0) -> (d0)>) init [false] {
  ^bb0(%a: f32, %any: i1):
    %zero = arith.constant 0.0 : f32
    %isLess = arith.cmpf olt, %a, %zero : f32
    %s = arith.ori %any, %isLess : i1
    tile.yield %s : i1
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[], i1>
  %r = tile.branch %c then @left else @right(%x) : (!graph.tensor<[], i1>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %y = tile.compute [n] [parallel] ins(%r : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
