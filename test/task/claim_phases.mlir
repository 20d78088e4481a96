// RUN: freestone-opt %s --pass-pipeline='builtin.module(task-claim-phases,task.program(task-check-order{always-samples}))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(task-claim-phases{enable=false})' | FileCheck %s --check-prefix=OFF
// OFF-NOT: claimed

!v = !graph.tensor<[n], f32>

// Windows stay: a run that lets workers claim tiles makes those wide. What is too short, has one tile or shares its deal
// is not claimed.
// CHECK:       tile.counters = {claimed = 4 : i64}
// CHECK-LABEL: task.program @long {{.*}}task.order = "proved"
// CHECK:         task.phase "a" claimed after all [] same []
// CHECK:         task.phase "b" claimed after all [] window [0] same []
// CHECK:         task.phase "short" after all [] window [1] same []
// CHECK:         task.phase "chain" after all [2] same []
// CHECK:         task.phase "of the chain" after all [] same [3]
// CHECK:         task.phase "single" after all [4] same []
task.program @long symbols [#task.symbol<"n" dim 0, 0 in [0, 100000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 2) released 3 : !v
  %b = task.buffer arena live [1, 3) : !v
  %c = task.buffer arena live [2, 5) : !v
  %d = task.buffer arena live [3, 6) : !v
  %e = task.buffer output "e" : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 time 2000000*n scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] window [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 8 deal 1 time 2000000*n scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
  }
  task.phase "short" after all [] window [1] same [] {
    task.space @p(%b) to (%c) sizes [n] tiles n ceildiv 4 deal 2 time n ceildiv 8 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "chain" after all [2] same [] {
    task.space @p(%c) to (%d) sizes [n] tiles n ceildiv 2 deal 3 time 2000000*n scratch 0 reads [2] writes [2] sites [] : (!v) -> (!v)
  }
  task.phase "of the chain" after all [] same [3] {
    task.space @p(%d) to (%e) sizes [n] tiles n ceildiv 2 deal 3 time 2000000*n scratch 0 reads [2] writes [2] sites [] : (!v) -> (!v)
  }
  task.phase "single" after all [4] same [] {
    task.space @p(%e) to (%y) sizes [n] tiles 1 deal 4 time 2000000*n scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
}

// Tiles of an iteration are claimed where all workers have finished the phase in the iteration before.
// CHECK-LABEL: task.program @loop {{.*}}task.order = "proved"
// CHECK:         task.phase "step" claimed after all [] same [] again_all [1]
// CHECK:         task.phase "collect" after all [] same []
task.program @loop symbols [#task.symbol<"n" dim 0, 0 in [0, 100000]>, #task.symbol<"t" element 1, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !v
  %count = task.buffer input "count" : !graph.tensor<[1], i64>
  %state = task.buffer output "state" : !graph.tensor<[2, n], f32>
  %first = task.view %state step 4*n : !graph.tensor<[2, n], f32> -> !v
  %old = task.view %state loop 0 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
  %new = task.view %state loop 0 shift 1 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
  %collected = task.buffer output "collected" : !graph.tensor<[t, n], f32>
  %each = task.view %collected loop 1 step 4*n : !graph.tensor<[t, n], f32> -> !v
  task.phase "first" after all [] same [] {
    task.space @p(%x) to (%first) sizes [n] tiles 1 deal 0 time n scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.loop 0 "/loop" trips t after all [0] {
    task.phase "step" after all [] same [] again_all [1] {
      task.space @p(%old) to (%new) sizes [n] tiles n ceildiv 4 deal 1 time 2000000*n scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
  }
  task.loop 1 "/collecting" trips t after all [1] {
    task.phase "collect" after all [] same [] {
      task.space @p(%x) to (%each) sizes [n] tiles n ceildiv 4 deal 2 time 2000000*n scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
  }
}

// What a worker touches again in each iteration may be of any worker where tiles are claimed: a window waits for it, of the
// worker itself alone in other runs. Not where it is unknown which elements that are.
// CHECK-LABEL: task.program @again {{.*}}task.order = "proved"
// CHECK:         task.phase "known" claimed after all [] same [] again_window [0] {
// CHECK:         task.phase "unknown" after all [] same [] again_same [1] {
task.program @again symbols [#task.symbol<"n" dim 0, 0 in [0, 100000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  task.loop 0 "loop" trips n {
    task.phase "known" after all [] same [] again_same [0] {
      task.space @p(%a) to (%a) sizes [n] tiles n ceildiv 4 deal 0 time 2000000*n scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
    task.phase "unknown" after all [] same [] again_same [1] {
      task.space @p(%x) to (%b) sizes [n] tiles 1 deal 1 time 2000000*n scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
    }
  }
}
