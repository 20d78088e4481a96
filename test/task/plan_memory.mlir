// RUN: freestone-opt %s --pass-pipeline='builtin.module(task.program(task-plan-memory))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(task.program(task-plan-memory{reuse=false}))' | FileCheck %s --check-prefix=ALONE

!v = !graph.tensor<[n], f32>

// A buffer is free from the phase on at which every worker knows that all that touch it are done: "c" waits for "b", and
// with it for "a", whose tiles belong to the same workers, so %c may take the bytes of %a, but not those of %b, which it
// reads.
// CHECK-LABEL: task.program @main
// CHECK:         task.buffer input "x" : !graph
// CHECK:         task.buffer weight "w" : !graph
// CHECK:         task.buffer arena live [0, 2) :
// CHECK:         task.buffer arena live [1, 4) :
// CHECK:         task.buffer arena live [2, 5) :
// CHECK:         task.buffer arena live [3, 5) :
// CHECK:         task.buffer output "y" : !graph
// ALONE-COUNT-4: task.buffer arena live [0, 5) :
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %w = task.buffer weight "w" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %c = task.buffer arena : !v
  %d = task.buffer arena : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x, %w) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
  task.phase "b" after all [] same [0] {
    task.space @p(%a, %w) to (%b) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
  task.phase "c" after all [1] same [] {
    task.space @p(%b, %w) to (%c) sizes [n] tiles n ceildiv 4 deal 1 scratch 0 reads [?, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
  task.phase "d" after all [] same [2] {
    task.space @p(%c, %w) to (%d) sizes [n] tiles n ceildiv 4 deal 1 scratch 0 reads [4, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
  task.phase "e" after all [3] same [] {
    task.space @p(%d, %c) to (%y) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [?, ?] writes [4] sites [] : (!v, !v) -> (!v)
  }
}
