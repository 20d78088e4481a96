// RUN: freestone-opt %s -split-input-file --pass-pipeline='builtin.module(task-double-buffer,task.program(task-order-phases,task-plan-memory,task-narrow-waits,task-check-order))' | FileCheck %s
// RUN: freestone-opt %s -split-input-file --pass-pipeline='builtin.module(task-double-buffer{enable=false},task.program(task-order-phases))' | FileCheck %s --check-prefix=OFF

!v = !graph.tensor<[n], f32>
!s = !graph.tensor<[2, n], f32>

// "part" reads nothing of the iteration before: with two slices of %a it need not wait until that has read %a. All workers
// have then finished the iteration before the last one, since "next" waits for all of them.
// CHECK:       tile.counters = {double_buffered = 1 : i64}
// CHECK-LABEL: task.program @ahead {{.*}}task.order = "proved"
// CHECK:         %[[TWO:.*]] = task.buffer arena live [0, 2) : !graph.tensor<[2, n], f32>
// CHECK-NEXT:    %[[A:.*]] = task.view %[[TWO]] loop 0 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !graph.tensor<[n], f32>
// CHECK:         task.loop 0 "loop" trips t {
// CHECK-NEXT:      task.phase "part" after all [] same [] {
// CHECK-NEXT:        task.space @p(%{{.*}}) to (%[[A]])
// CHECK:           task.phase "next" after all [0] same [] {
// CHECK-NEXT:        task.space @q(%{{.*}}, %[[A]])
// OFF-LABEL:   task.program @ahead
// OFF:           task.phase "part" after all [] same [] again_all [1] {
// OFF:           task.phase "next" after all [0] same [] {
task.program @ahead symbols [#task.symbol<"n" dim 0, 1 in [0, 1000]>, #task.symbol<"t" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !graph.tensor<[t, n], f32>
  %slice = task.view %x loop 0 step 4*n : !graph.tensor<[t, n], f32> -> !v
  %s = task.buffer output "s" : !s
  %old = task.view %s loop 0 rotate 2 step 4*n : !s -> !v
  %new = task.view %s loop 0 shift 1 rotate 2 step 4*n : !s -> !v
  %a = task.buffer arena : !v
  task.loop 0 "loop" trips t {
    task.phase "part" after all [] same [] {
      task.space @p(%slice) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
    task.phase "next" after all [] same [] {
      task.space @q(%old, %a) to (%new) sizes [n] tiles n ceildiv 8 scratch 0 reads [?, ?] writes [8] sites [] : (!v, !v) -> (!v)
    }
  }
}

// -----

// Not where the phase needs the iteration before anyway, where windows tell who reads which elements, nor what is read
// behind the loop.
!v = !graph.tensor<[n], f32>
!s = !graph.tensor<[2, n], f32>
// CHECK-NOT:   double_buffered
// CHECK-LABEL: task.program @behind {{.*}}task.order = "proved"
// CHECK-NOT:     loop 0 rotate 2
task.program @behind symbols [#task.symbol<"n" dim 0, 1 in [0, 1000]>, #task.symbol<"t" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !graph.tensor<[t, n], f32>
  %slice = task.view %x loop 0 step 4*n : !graph.tensor<[t, n], f32> -> !v
  %y = task.buffer output "y" : !graph.tensor<[t, n], f32>
  %each = task.view %y loop 0 step 4*n : !graph.tensor<[t, n], f32> -> !v
  %z = task.buffer output "z" : !v
  %state = task.buffer output "state" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %c = task.buffer arena : !v
  task.loop 0 "loop" trips t {
    task.phase "needs" after all [] same [] {
      task.space @p(%slice, %state) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [4, ?] writes [4] sites [] : (!v, !v) -> (!v)
    }
    task.phase "known" after all [] same [] {
      task.space @p(%slice) to (%b) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
    task.phase "read" after all [] same [] {
      task.space @p(%slice) to (%c) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
    task.phase "next" after all [] same [] {
      task.space @q(%a, %b, %c) to (%each, %state) sizes [n] tiles n ceildiv 8 scratch 0 reads [?, 8, ?] writes [8, 8] sites [] : (!v, !v, !v) -> (!v, !v)
    }
  }
  task.phase "last" after all [] same [] {
    task.space @p(%c) to (%z) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
}
