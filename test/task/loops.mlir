// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(task-copy-results),tile-outline,tile-choose-tiles,task-form-phases,task.program(task-order-phases,task-plan-memory,task-check-order))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(task-copy-results),tile-outline,tile-choose-tiles,task-form-phases,task.program(task-order-phases{overlap=false},task-plan-memory,task-check-order))' | FileCheck %s --check-prefix=MEET

// A loop reads slices of what it scans, has two slices of a carried value in turns, and reads a carried value that is
// collected where the iteration before has put it, behind the first value. All of it lives through the loop. Workers touch
// what they touched in the iteration before, and do not wait for each other.
// CHECK-LABEL: task.program @scanned {{.*}}task.order = "proved"
// MEET-LABEL: task.program @scanned
// MEET:         task.loop 0 "loop" trips t after all [1] again_all [3] {
// MEET-NEXT:      task.phase {{.*}} after all [] same [] {
// MEET:           task.phase {{.*}} after all [] same [] {
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
// CHECK:         task.loop 0 "loop" trips t after all [1] {
// CHECK-NEXT:      task.phase {{.*}} after all [] same [] again_same [2] {
// CHECK-NEXT:        task.space @{{.*}}(%[[OLD]], %[[SLICE]]) to (%[[NEW]])
// CHECK:           task.phase {{.*}} after all [] same [] again_same [2, 3] {
// CHECK-NEXT:        task.space @{{.*}}(%[[CELL]], %[[OLD]]) to (%[[NEXT]])
// CHECK:         task.phase {{.*}} after all [3] same []
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

// Carried values that are collected as iterations find them lie one behind the other: those found are all but the last.
// CHECK-LABEL: task.program @found {{.*}}task.order = "proved"
// CHECK:         %[[H:.*]] = task.buffer arena {{.*}}: !graph.tensor<[t + 1, n], f32>
// CHECK-NEXT:    %[[OLD:.*]] = task.view %[[H]] loop 0 step 4*n :
// CHECK-NEXT:    %[[NEW:.*]] = task.view %[[H]] loop 0 shift 1 step 4*n :
// CHECK-NEXT:    %[[FOUND:.*]] = task.view %[[H]] step 4*n : {{.*}} -> !graph.tensor<[t, n], f32>
// CHECK-NEXT:    %[[ALL:.*]] = task.view %[[H]] shift 1 step 4*n : {{.*}} -> !graph.tensor<[t, n], f32>
// CHECK:         task.loop 0 "loop" trips t
// CHECK-NEXT:      task.phase
// CHECK-NEXT:        task.space @{{.*}}(%[[OLD]], %{{.*}}) to (%[[NEW]])
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK:           task.space @{{.*}}(%[[FOUND]])
// CHECK:           task.space @{{.*}}(%[[ALL]])
func.func private @step(%h: !graph.tensor<[n], f32>, %x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %sum = tile.compute [n] [parallel] ins(%h : affine_map<(d0) -> (d0)>, %x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %sum : !graph.tensor<[n], f32>
}
func.func @found(%x: !graph.tensor<[t, n], f32> {graph.name = "x"}, %h: !graph.tensor<[n], f32> {graph.name = "h"})
    -> (!graph.tensor<[t, n], f32> {graph.name = "found"}, !graph.tensor<[t, n], f32> {graph.name = "all"}) {
  %r:3 = tile.loop @step trips t carry(%h) as [1] before [0, -1] over(%x)
      : (!graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>)
      -> (!graph.tensor<[n], f32>, !graph.tensor<[t, n], f32>, !graph.tensor<[t, n], f32>)
  return %r#1, %r#2 : !graph.tensor<[t, n], f32>, !graph.tensor<[t, n], f32>
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

// A body that binds the number of its iteration: a carried value has slices as large as it becomes, and views of them of
// the iteration's sizes. Whoever binds deals the tiles of the phases behind it, which wait for that; each iteration comes
// after all of the one before.
// CHECK-LABEL: task.program @grown symbols [{{.*}}, #task.symbol<"i" runtime 5, 0 in [0, 9223372036854775807] bound #sym.expr<6>>]
// CHECK:         %[[X:.*]] = task.buffer arena {{.*}} : !graph.tensor<[2, 8*n], f32>
// CHECK-NEXT:    %[[OLD:.*]] = task.view %[[X]] loop 0 rotate 2 step 32*n : {{.*}} -> !graph.tensor<[i*n + n], f32>
// CHECK-NEXT:    %[[NEW:.*]] = task.view %[[X]] loop 0 shift 1 rotate 2 step 32*n : {{.*}} -> !graph.tensor<[i*n + 2*n], f32>
// CHECK-NEXT:    %[[LAST:.*]] = task.view %[[X]] loop 0 rotate 2 step 32*n : {{.*}} -> !graph.tensor<[7*n], f32>
// CHECK:         task.loop 0 "loop" trips 6 after all [1] again_all [4] {
// CHECK-NEXT:      task.phase {{.*}} after all [] same [] binds "i" {
// CHECK:           task.phase {{.*}} after all [2] same []
// CHECK:           task.phase {{.*}} after all [] same []
// CHECK-NEXT:        task.space @{{.*}} to (%[[NEW]]) sizes [i*n + 2*n, n]
// CHECK:         task.space @{{.*}}(%[[LAST]])
func.func private @longer(%number: !graph.tensor<[], i64>, %x: !graph.tensor<[n + i*n], f32>, %more: !graph.tensor<[n], f32>) -> (!graph.tensor<[], i64>, !graph.tensor<[2*n + i*n], f32>) {
  %bound = tile.opaque [1] ins(%number) attributes {binds = "i", bound = #sym.expr<6>} {
  ^bb0(%t: index, %in: memref<?xi64>, %out: memref<?xi64>):
    %v = memref.load %in[%t] : memref<?xi64>
    memref.store %v, %out[%t] : memref<?xi64>
    tile.yield
  } : (!graph.tensor<[], i64>) -> !graph.tensor<[], i64>
  %later = tile.compute [] [] ins(%number : affine_map<() -> ()>) {
  ^bb0(%a: i64):
    %one = arith.constant 1 : i64
    %s = arith.addi %a, %one : i64
    tile.yield %s : i64
  } : (!graph.tensor<[], i64>) -> !graph.tensor<[], i64>
  %next = tile.compute [2*n + i*n] [parallel] ins(%more : affine_map<(d0) -> (d0)>) fill [0.0 : f32] {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[2*n + i*n], f32>
  return %later, %next : !graph.tensor<[], i64>, !graph.tensor<[2*n + i*n], f32>
}
func.func @grown(%x: !graph.tensor<[n], f32> {graph.name = "x"}) -> (!graph.tensor<[7*n], f32> {graph.name = "y"}) {
  %zero = graph.constant dense<0> : tensor<i64> -> !graph.tensor<[], i64>
  %r:2 = tile.loop @longer trips 6 carry(%zero, %x) as [-1, -1] with(%x)
      : (!graph.tensor<[], i64>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>) -> (!graph.tensor<[], i64>, !graph.tensor<[7*n], f32>)
  return %r#1 : !graph.tensor<[7*n], f32>
}

// A value that no size needs binds nothing.
// CHECK-LABEL: task.program @unneeded symbols [#task.symbol<"n"
// CHECK-NOT:     binds
// CHECK:         task.phase {{.*}} after all [] same [] {
func.func @unneeded(%x: !graph.tensor<[n], i64> {graph.name = "x"}, %c: !graph.tensor<[], i64> {graph.name = "c"}) -> (!graph.tensor<[], i64> {graph.name = "y"}) {
  %bound = tile.opaque [1] ins(%c) attributes {binds = "nothing"} {
  ^bb0(%t: index, %in: memref<?xi64>, %out: memref<?xi64>):
    %v = memref.load %in[%t] : memref<?xi64>
    memref.store %v, %out[%t] : memref<?xi64>
    tile.yield
  } : (!graph.tensor<[], i64>) -> !graph.tensor<[], i64>
  return %bound : !graph.tensor<[], i64>
}
