// RUN: freestone-opt %s --task-schedule-phases | FileCheck %s
// RUN: freestone-opt %s --task-schedule-phases='enable=false' | FileCheck %s --check-prefix=OFF

!v = !graph.tensor<[n], f32>
!c = !graph.tensor<[], i1>
!k = !graph.tensor<[4], f32>

// What conditions follow from comes before branches that it does not depend on, with what it follows from itself; what
// depends on a branch stays behind it, as does what writes the memory that a branch reads.
// CHECK: module attributes {tile.counters = {early_conditions = 3 : i64
// CHECK-LABEL: task.program @branches
// CHECK:         task.phase "one"
// CHECK:         task.phase "part"
// CHECK:         task.phase "two"
// CHECK:         task.branch "/one"
// CHECK:         task.phase "three"
// CHECK:         task.phase "again"
// CHECK:         task.branch "/two"
// CHECK:         task.branch "/three"
// CHECK:         task.branch "/again"
// OFF-LABEL:   task.program @branches
// OFF:           task.branch "/one"
// OFF:           task.phase "part"
task.program @branches symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %k = task.buffer input "k" : !k
  %a = task.buffer arena : !v
  %one = task.buffer arena : !c
  %part = task.buffer arena : !k
  %two = task.buffer arena : !c
  %three = task.buffer arena : !c
  task.phase "one" after all [] same [] {
    task.space @p(%k) to (%one) sizes [] tiles 1 time 1 scratch 0 reads [?] writes [?] sites [] : (!k) -> (!c)
  }
  task.branch "/one" if %one after all [] : !c {
    task.phase "a" after all [] same [] {
      task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 time 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
    }
  } else {
  }
  task.phase "part" after all [] same [] {
    task.space @p(%k) to (%part) sizes [] tiles 1 time 1 scratch 0 reads [?] writes [?] sites [] : (!k) -> (!k)
  }
  task.phase "two" after all [] same [] {
    task.space @p(%part) to (%two) sizes [] tiles 1 time 1 scratch 0 reads [?] writes [?] sites [] : (!k) -> (!c)
  }
  task.phase "three" after all [] same [] {
    task.space @p(%a) to (%three) sizes [] tiles 1 time 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!c)
  }
  task.branch "/two" if %two after all [] : !c {
  } else {
  }
  task.branch "/three" if %three after all [] : !c {
  } else {
  }
  task.phase "again" after all [] same [] {
    task.space @p(%k) to (%one) sizes [] tiles 1 time 1 scratch 0 reads [?] writes [?] sites [] : (!k) -> (!c)
  }
  task.branch "/again" if %one after all [] : !c {
  } else {
  }
}
