// RUN: freestone-opt %s --pass-pipeline='builtin.module(task.program(task-plan-memory))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(task.program(task-plan-memory{reuse=false}))' | FileCheck %s --check-prefix=ALONE

!v = !graph.tensor<[n], f32>

// A buffer's horizon is the last phase complete on every worker before any touches it: "c" begins after a wait for
// phase 1, so %c may reuse the bytes of %a, but not those of %b, which the previous phase may still read.
// CHECK-LABEL: task.program @main
// CHECK:         task.buffer input "x" : !graph
// CHECK:         task.buffer weight "w" : !graph
// CHECK:         task.buffer arena horizon -1 last_use 1 :
// CHECK:         task.buffer arena horizon -1 last_use 2 :
// CHECK:         task.buffer arena horizon 1 last_use 4 :
// CHECK:         task.buffer arena horizon 1 last_use 4 :
// CHECK:         task.buffer output "y" : !graph
// ALONE-COUNT-4: task.buffer arena horizon -1 last_use 4 :
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %w = task.buffer weight "w" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %c = task.buffer arena : !v
  %d = task.buffer arena : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x, %w) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [4, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
  task.phase "b" after all [] same [0] {
    task.space @p(%a, %w) to (%b) sizes [n] tiles n ceildiv 4 scratch 0 reads [4, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
  task.phase "c" after all [1] same [] {
    task.space @p(%b, %w) to (%c) sizes [n] tiles n ceildiv 4 scratch 0 reads [?, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
  task.phase "d" after all [] same [2] {
    task.space @p(%c, %w) to (%d) sizes [n] tiles n ceildiv 4 scratch 0 reads [4, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
  task.phase "e" after all [3] same [] {
    task.space @p(%d, %c) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [?, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
}
