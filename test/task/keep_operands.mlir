// RUN: freestone-opt %s --pass-pipeline='builtin.module(task-keep-operands,func.func(task-copy-results))' | FileCheck %s --check-prefix=MARK
// RUN: freestone-opt %s --pass-pipeline='builtin.module(task-keep-operands,func.func(task-copy-results),tile-outline,tile-choose-tiles,task-form-phases,task.program(task-order-phases,task-plan-memory,task-check-order))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(task-keep-operands{enable=false},func.func(task-copy-results))' | FileCheck %s --check-prefix=OFF

// OFF-NOT: kept
// OFF-NOT: keeps
// MARK: module attributes {tile.counters = {kept = 4 : i64}}

// Nothing reads the operand of either branch behind it: both have slices of one buffer in turns, and the sides that
// return the operand have no phase. The second branch keeps it on its first side. Who writes a slice comes after those
// that read it, and who reads the result after those that made it.
// MARK-LABEL:  func.func private @none(
// MARK-NOT:      tile.compute
// MARK:          return
// CHECK-LABEL: task.program @chain
// CHECK:         %[[M:.*]] = task.buffer arena live [1, 5) : !graph.tensor<[2, n], f32>
// CHECK-NEXT:    %[[NOW:.*]] = task.view %[[M]] turn 0 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !graph.tensor<[n], f32>
// CHECK-NEXT:    %[[NEXT:.*]] = task.view %[[M]] turn 0 shift 1 rotate 2 step 4*n :
// CHECK:         task.phase
// CHECK:         task.phase
// CHECK-NEXT:      task.space @{{.*}} to (%[[NOW]])
// CHECK:         task.branch
// CHECK-NEXT:      task.phase {{.*}} after all [1] same [1]
// CHECK-NEXT:        task.space @{{.*}}(%[[NOW]]) to (%[[NEXT]])
// CHECK-NEXT:      }
// CHECK-NEXT:      task.turn 0
// CHECK-NEXT:    } else {
// CHECK-NEXT:    }
// CHECK:         task.branch
// CHECK-NEXT:    } else {
// CHECK-NEXT:      task.phase {{.*}} after all [2] same [1, 2]
// CHECK-NEXT:        task.space @{{.*}}(%[[NOW]]) to (%[[NEXT]])
// CHECK-NEXT:      }
// CHECK-NEXT:      task.turn 0
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase {{.*}} after all [3] same [1]
// CHECK-NEXT:      task.space @{{.*}}(%[[NOW]])
func.func private @some(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
func.func private @none(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  return %x : !graph.tensor<[n], f32>
}
func.func private @some_more(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
func.func private @none_more(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  return %x : !graph.tensor<[n], f32>
}
func.func @chain(%x: !graph.tensor<[n], f32> {graph.name = "x"}) -> (!graph.tensor<[n], f32> {graph.name = "y"}) {
  %c = tile.compute [1] [reduction] ins(%x : affine_map<(d0) -> (d0)>) init [false] {
  ^bb0(%a: f32, %any: i1):
    %zero = arith.constant 0.0 : f32
    %isLess = arith.cmpf olt, %a, %zero : f32
    %s = arith.ori %any, %isLess : i1
    tile.yield %s : i1
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[], i1>
  %h = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = math.absf %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %r = tile.branch %c then @some else @none(%h) : (!graph.tensor<[], i1>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %q = tile.branch %c then @none_more else @some_more(%r) : (!graph.tensor<[], i1>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %y = tile.compute [n] [parallel] ins(%q : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}

// An input stays as it is, an output has memory of its own, and what is read behind the branch needs both: copies. The
// result of a branch that copies may be kept by the next one.
// MARK-LABEL:  func.func private @none_of_input
// MARK:          tile.compute
// MARK-LABEL:  func.func private @none_twice
// MARK-NOT:      tile.compute
// MARK:          return
// MARK-LABEL:  func.func private @none_of_read
// MARK:          tile.compute
// MARK-LABEL:  func.func private @none_of_output
// MARK:          tile.compute
// MARK-LABEL:  func.func @copied
// CHECK-LABEL: task.program @copied
// CHECK-COUNT-2: task.view {{.*}} turn
// CHECK-NOT:     task.view
// CHECK-COUNT-1: task.turn 0
// CHECK-NOT:     task.turn
func.func private @some_of_input(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
func.func private @none_of_input(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  return %x : !graph.tensor<[n], f32>
}
func.func private @some_twice(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
func.func private @none_twice(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  return %x : !graph.tensor<[n], f32>
}
func.func private @some_of_read(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
func.func private @none_of_read(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  return %x : !graph.tensor<[n], f32>
}
func.func private @some_of_output(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %y = tile.compute [n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
func.func private @none_of_output(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  return %x : !graph.tensor<[n], f32>
}
func.func @copied(%x: !graph.tensor<[n], f32> {graph.name = "x"}, %c: !graph.tensor<[], i1> {graph.name = "c"})
    -> (!graph.tensor<[n], f32> {graph.name = "y"}, !graph.tensor<[n], f32> {graph.name = "z"}) {
  %p = tile.branch %c then @some_of_input else @none_of_input(%x) : (!graph.tensor<[], i1>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %q = tile.branch %c then @some_twice else @none_twice(%p) : (!graph.tensor<[], i1>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %r = tile.branch %c then @some_of_read else @none_of_read(%q) : (!graph.tensor<[], i1>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %y = tile.compute [n] [parallel] ins(%q : affine_map<(d0) -> (d0)>, %r : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %h = tile.compute [n] [parallel] ins(%y : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = math.absf %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %z = tile.branch %c then @some_of_output else @none_of_output(%h) : (!graph.tensor<[], i1>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  return %y, %z : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}

// The operand may have been made in another shape.
// MARK-LABEL:  func.func private @none_of_reshaped
// MARK-NOT:      tile.compute
// MARK:          return
// CHECK-LABEL: task.program @reshaped
// CHECK:         task.view {{.*}} turn 0 rotate 2 step 16*n : !graph.tensor<[2, n, 4], f32> -> !graph.tensor<[n, 4], f32>
func.func private @some_of_reshaped(%x: !graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32> {
  %y = tile.compute [n, 4] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32>
  return %y : !graph.tensor<[n, 4], f32>
}
func.func private @none_of_reshaped(%x: !graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32> {
  return %x : !graph.tensor<[n, 4], f32>
}
func.func @reshaped(%x: !graph.tensor<[4*n], f32> {graph.name = "x"}, %c: !graph.tensor<[], i1> {graph.name = "c"})
    -> (!graph.tensor<[n, 4], f32> {graph.name = "y"}) {
  %h = tile.compute [4*n] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = math.absf %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[4*n], f32>) -> !graph.tensor<[4*n], f32>
  %g = graph.reshape %h : !graph.tensor<[4*n], f32> -> !graph.tensor<[n, 4], f32>
  %r = tile.branch %c then @some_of_reshaped else @none_of_reshaped(%g) : (!graph.tensor<[], i1>, !graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32>
  %y = tile.compute [n, 4] [parallel, parallel] ins(%r : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 4], f32>) -> !graph.tensor<[n, 4], f32>
  return %y : !graph.tensor<[n, 4], f32>
}
