// RUN: freestone-opt %s --pass-pipeline='builtin.module(task.program(task-order-phases,task-plan-memory))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(task.program(task-order-phases{await-readers=false},task-plan-memory))' | FileCheck %s --check-prefix=OFF

!v = !graph.tensor<[n], f32>

// While a long phase runs, each phase of a chain waits for the one before alone, and nothing for what reads the first value
// beside it. The next one that waits, when that is done, waits for it too: then the value's memory is free.
// CHECK-LABEL: task.program @chain
// CHECK-SAME:    task.awaited_readers = 1
// CHECK:         task.buffer arena live [1, 4)
// CHECK:         task.phase "long" after all [] same []
// CHECK:         task.phase "first" after all [] same []
// CHECK:         task.phase "beside" after all [] tiles [1] same []
// CHECK:         task.phase "second" after all [] same []
// CHECK:         task.phase "third" after all [] tiles [2, 3] same []
// CHECK:         task.phase "fourth" after all [] same [4]
// OFF-LABEL:   task.program @chain
// OFF-NOT:       task.awaited_readers
// OFF:           task.buffer arena live [1, 6)
// OFF:           task.phase "third" after all [] tiles [3] same []
task.program @chain symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %first = task.buffer arena : !v
  %second = task.buffer arena : !v
  %third = task.buffer arena : !v
  %long = task.buffer output "long" : !v
  %beside = task.buffer output "beside" : !v
  %y = task.buffer output "y" : !v
  task.phase "long" after all [] same [] {
    task.space @p(%x) to (%long) sizes [n] tiles 1 time 900000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "first" after all [] same [] {
    task.space @p(%x) to (%first) sizes [n] tiles 1 time 2000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "beside" after all [] same [] {
    task.space @p(%first) to (%beside) sizes [n] tiles 2 time 2000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "second" after all [] same [] {
    task.space @p(%first) to (%second) sizes [n] tiles 2 time 2000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "third" after all [] same [] {
    task.space @p(%second) to (%third) sizes [n] tiles 1 time 2000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "fourth" after all [] same [] {
    task.space @p(%third) to (%y) sizes [n] tiles 1 time 2000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
}
