// RUN: freestone-opt %s --task-schedule-phases | FileCheck %s
// RUN: freestone-opt %s --task-schedule-phases='enable=false' | FileCheck %s --check-prefix=OFF

!v = !graph.tensor<[n], f32>

// Two chains of single tiles come in turns, so that two workers compute them side by side.
// CHECK: module attributes {tile.counters = {scheduled_phases = 2 : i64}}
// CHECK-LABEL: task.program @chains
// CHECK:         task.phase "a"
// CHECK:         task.phase "c"
// CHECK:         task.phase "b"
// CHECK:         task.phase "d"
// OFF-LABEL:   task.program @chains
// OFF:           task.phase "a"
// OFF:           task.phase "b"
// OFF:           task.phase "c"
// OFF:           task.phase "d"
task.program @chains symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  %c = task.buffer output "c" : !v
  %d = task.buffer output "d" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 64 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 64 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "c" after all [] same [] {
    task.space @p(%x) to (%c) sizes [n] tiles n ceildiv 64 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "d" after all [] same [] {
    task.space @p(%c) to (%d) sizes [n] tiles n ceildiv 64 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
}

// The order stays where nothing is gained, where more memory would be needed, and across a phase that binds a size.
// CHECK-LABEL: task.program @memory
// CHECK:         task.phase "a"
// CHECK:         task.phase "b"
// CHECK:         task.phase "c"
// CHECK:         task.phase "d"
task.program @memory symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !graph.tensor<[1000*n], f32>
  %b = task.buffer output "b" : !v
  %c = task.buffer arena : !graph.tensor<[1000*n], f32>
  %d = task.buffer output "d" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 64 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!graph.tensor<[1000*n], f32>)
  }
  task.phase "b" after all [] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 64 time 9000 scratch 0 reads [?] writes [?] sites [] : (!graph.tensor<[1000*n], f32>) -> (!v)
  }
  task.phase "c" after all [] same [] {
    task.space @p(%x) to (%c) sizes [n] tiles n ceildiv 64 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!graph.tensor<[1000*n], f32>)
  }
  task.phase "d" after all [] same [] {
    task.space @p(%c) to (%d) sizes [n] tiles n ceildiv 64 time 9000 scratch 0 reads [?] writes [?] sites [] : (!graph.tensor<[1000*n], f32>) -> (!v)
  }
}

// CHECK-LABEL: task.program @binding
// CHECK:         task.phase "a"
// CHECK:         task.phase "find"
// CHECK:         task.phase "b"
!one = !graph.tensor<[1], i64>
task.program @binding symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 2, 0 in [0, 100] bound #sym.expr<n>>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer output "a" : !v
  %count = task.buffer arena : !one
  %b = task.buffer output "b" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles 1 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "find" after all [] same [] binds "k" {
    task.space @find(%a) to (%count) sizes [n] tiles 1 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!one)
  }
  task.phase "b" after all [] same [] {
    task.space @p(%x) to (%b) sizes [n] tiles 1 time 9000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
}
