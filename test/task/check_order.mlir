// RUN: freestone-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(task.program(task-check-order))' | FileCheck %s
// RUN: freestone-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(task.program(task-check-order{always-samples}))' | FileCheck %s

!v = !graph.tensor<[n], f32>

// A wait if a tile may read any element, none if it reads what the same tile wrote, and bytes reused after all workers
// are done: for all sizes.
// CHECK: task.program @right {{.*}}task.order = "proved"
task.program @right symbols [#task.symbol<"n" dim 0, 0 in [0, 9223372036854775807]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 3) : !v
  %b = task.buffer arena live [0, 3) : !v
  %c = task.buffer arena live [3, 5) : !v
  %y = task.buffer output "y" : !v
  %z = task.buffer output "z" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] same [0] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [1] same [] {
    task.space @p(%a, %b) to (%y) sizes [n] tiles n ceildiv 8 deal 1 scratch 0 reads [?, ?] writes [8] sites [] : (!v, !v) -> (!v)
  }
  task.phase "c" after all [2] same [] {
    task.space @p(%x) to (%c) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "z" after all [3] same [] {
    task.space @p(%c) to (%z) sizes [n] tiles n ceildiv 4 deal 3 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
}

// -----

// Only sizes tell that there is one tile, of one worker.
!v = !graph.tensor<[n], f32>
// CHECK: task.program @one_tile {{.*}}task.order = "sampled"
task.program @one_tile symbols [#task.symbol<"n" dim 0, 0 in [1, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 2) : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4096 deal 0 scratch 0 reads [?] writes [4096] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [] same [0] {
    task.space @p(%a) to (%y) sizes [n] tiles n ceildiv 4096 deal 0 scratch 0 reads [?] writes [4096] sites [] : (!v) -> (!v)
  }
}

// -----

// A missing wait matters only with several workers and several tiles.
!v = !graph.tensor<[n], f32>
// expected-error @+1 {{phase 0 'a' writes what phase 1 'y' reads, in no order (workers = 2, n = 7)}}
task.program @no_wait symbols [#task.symbol<"n" dim 0, 0 in [7, 2000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 2) : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [] same [0] {
    task.space @p(%a) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
}

// -----

// A worker that continues with its own data needs no wait, but a `same` edge.
!v = !graph.tensor<[n], f32>
// expected-error @+1 {{phase 0 'a' writes what phase 1 'y' reads, and no edge says so (workers = 1, n = 3)}}
task.program @no_edge symbols [#task.symbol<"n" dim 0, 0 in [0, 2000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 2) : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [] same [] {
    task.space @p(%a) to (%y) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
}

// -----

// Bytes reused during a live range.
!v = !graph.tensor<[n], f32>
// expected-error @+1 {{phase 1 'b' overwrites what phase 1 'b' reads (workers = 1, n = 3)}}
task.program @too_early symbols [#task.symbol<"n" dim 0, 0 in [0, 2000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 2) : !v
  %b = task.buffer arena live [2, 3) : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [1] same [] {
    task.space @p(%b) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
}

// -----

// Sizes satisfy the program's assertions: n follows from k here, and whole tiles are never shared.
!v = !graph.tensor<[n], f32>
!k = !graph.tensor<[k, 3], f32>
// expected-error @+1 {{phase 0 'a' writes what phase 1 'y' reads, in no order (workers = 2, k = 5, n = 15)}}
task.program @asserted symbols [#task.symbol<"n" dim 0, 0 in [0, 9223372036854775807]>, #task.symbol<"k" dim 1, 0 in [5, 9223372036854775807]>]
    assert [[#sym.expr<n>, #sym.expr<3*k>, "the elements of x"]] {
  %x = task.buffer input "x" : !v
  %w = task.buffer input "w" : !k
  %a = task.buffer arena live [0, 2) : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles k scratch 0 reads [?] writes [3] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [] same [0] {
    task.space @p(%a, %w) to (%y) sizes [n] tiles k scratch 0 reads [?, 3] writes [3] sites [] : (!v, !k) -> (!v)
  }
}

// -----

// No run can have such sizes.
!v = !graph.tensor<[n], f32>
// expected-error @+1 {{no sizes were found for which the order of its phases can be proved}}
task.program @impossible symbols [#task.symbol<"n" dim 0, 0 in [0, 9223372036854775807]>]
    assert [[#sym.expr<n>, #sym.expr<n + 1>, "x"]] {
  %x = task.buffer input "x" : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%y) sizes [n] tiles n scratch 0 reads [1] writes [1] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [] same [] {
    task.space @p(%x) to (%y) sizes [n] tiles n scratch 0 reads [1] writes [1] sites [] : (!v) -> (!v)
  }
}

// -----

// A window that is missing, and one of a phase whose tiles may touch anything.
!v = !graph.tensor<[n], f32>
// expected-error @+1 {{phase 0 'a' writes what phase 2 'c' reads, in no order (workers = 2}}
task.program @no_window symbols [#task.symbol<"n" dim 0, 0 in [7, 2000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  %c = task.buffer output "c" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles 2*(n ceildiv 4) deal 0 scratch 0 reads [?] writes [4 per 2] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] window [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 3 deal 1 scratch 0 reads [3] writes [3] sites [] : (!v) -> (!v)
  }
  task.phase "c" after all [] same [] {
    task.space @p(%a) to (%c) sizes [n] tiles n ceildiv 2 deal 2 scratch 0 reads [2] writes [2] sites [] : (!v) -> (!v)
  }
}

// -----

!v = !graph.tensor<[n], f32>
// expected-error @+1 {{phase 0 'a' writes what phase 1 'b' reads, in no order (workers = 2}}
task.program @unknown_window symbols [#task.symbol<"n" dim 0, 0 in [7, 2000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] window [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 3 deal 1 scratch 0 reads [?] writes [3] sites [] : (!v) -> (!v)
  }
}

// -----

// Memory that is taken again: a run makes the window of "y" wide if %a and %c share bytes, which it would not know
// without the phase from which on %a is released.
!v = !graph.tensor<[n], f32>
// CHECK: task.program @wide {{.*}}task.order = "proved"
task.program @wide symbols [#task.symbol<"n" dim 0, 0 in [0, 2000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 2) released 3 : !v
  %b = task.buffer arena live [1, 3) : !v
  %c = task.buffer arena live [2, 3) : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] window [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 3 deal 1 scratch 0 reads [3] writes [3] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [] window [1] same [] {
    task.space @p(%b) to (%c) sizes [n] tiles n ceildiv 2 deal 2 scratch 0 reads [2] writes [?] sites [] : (!v) -> (!v)
  }
}

// -----

!v = !graph.tensor<[n], f32>
// expected-error @+1 {{in no order (workers = 2}}
task.program @not_wide symbols [#task.symbol<"n" dim 0, 0 in [7, 2000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 2) : !v
  %b = task.buffer arena live [1, 3) : !v
  %c = task.buffer arena live [2, 3) : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] window [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 3 deal 1 scratch 0 reads [3] writes [3] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [] window [1] same [] {
    task.space @p(%b) to (%c) sizes [n] tiles n ceildiv 2 deal 2 scratch 0 reads [2] writes [?] sites [] : (!v) -> (!v)
  }
}

// -----

// Slices in turns: in each combination of sides, who writes one comes after those that read it, and who reads the result
// after the last one that made it.
!v = !graph.tensor<[n], f32>
!c = !graph.tensor<[], i1>
!w = !graph.tensor<[2, n], f32>
// CHECK: task.program @turns {{.*}}task.order = "proved"
task.program @turns symbols [#task.symbol<"n" dim 0, 0 in [7, 2000]>] {
  %x = task.buffer input "x" : !v
  %if = task.buffer input "if" : !c
  %a = task.buffer arena live [0, 4) : !w
  %now = task.view %a turn 0 rotate 2 step 4*n : !w -> !v
  %next = task.view %a turn 0 shift 1 rotate 2 step 4*n : !w -> !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%now) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.branch "/one" if %if after all [] : !c {
    task.phase "b" after all [0] same [] {
      task.space @p(%now) to (%next) sizes [n] tiles n ceildiv 4 deal 1 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
    }
    task.turn 0
  } else {
  }
  task.branch "/two" if %if after all [] : !c {
    task.phase "c" after all [1] same [] {
      task.space @p(%now) to (%next) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
    }
    task.turn 0
  } else {
  }
  task.phase "y" after all [2] same [] {
    task.space @p(%now) to (%y) sizes [n] tiles n ceildiv 4 deal 3 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
}

// -----

!v = !graph.tensor<[n], f32>
!c = !graph.tensor<[], i1>
!w = !graph.tensor<[2, n], f32>
// expected-error @+1 {{phase 1 'b' reads what phase 2 'c' writes, in no order (workers = 2}}
task.program @turns_without_wait symbols [#task.symbol<"n" dim 0, 0 in [7, 2000]>] {
  %x = task.buffer input "x" : !v
  %if = task.buffer input "if" : !c
  %a = task.buffer arena live [0, 4) : !w
  %now = task.view %a turn 0 rotate 2 step 4*n : !w -> !v
  %next = task.view %a turn 0 shift 1 rotate 2 step 4*n : !w -> !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%now) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.branch "/one" if %if after all [] : !c {
    task.phase "b" after all [0] same [] {
      task.space @p(%now) to (%next) sizes [n] tiles n ceildiv 4 deal 1 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
    }
    task.turn 0
  } else {
  }
  task.branch "/two" if %if after all [] : !c {
    task.phase "c" after all [0] same [] {
      task.space @p(%now) to (%next) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
    }
    task.turn 0
  } else {
  }
  task.phase "y" after all [2] same [] {
    task.space @p(%now) to (%y) sizes [n] tiles n ceildiv 4 deal 3 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
}

// -----

// Whoever has waited for a side that this iteration does not take is done with the one before, which read what "c" writes.
!v = !graph.tensor<[n], f32>
!c = !graph.tensor<[], i1>
// CHECK: task.program @side {{.*}}task.order = "proved"
task.program @side symbols [#task.symbol<"n" dim 0, 0 in [7, 2000]>] {
  %x = task.buffer input "x" : !v
  %if = task.buffer input "if" : !c
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  %y = task.buffer output "y" : !v
  task.loop 0 "loop" trips n {
    task.branch "side" if %if after all [] : !c {
      task.phase "a" after all [] same [] again_all [2] {
        task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
      }
    } else {
      task.phase "other a" after all [] same [] again_same [2] {
        task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 3 deal 1 scratch 0 reads [3] writes [3] sites [] : (!v) -> (!v)
      }
    }
    task.phase "c" after all [0] same [1] {
      task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 3 deal 1 scratch 0 reads [3] writes [3] sites [] : (!v) -> (!v)
    }
    task.phase "y" after all [2] same [] again_same [3] {
      task.space @p(%b) to (%y) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
    }
  }
}

// -----

!v = !graph.tensor<[n], f32>
!c = !graph.tensor<[], i1>
// expected-error @+1 {{phase 2 'y' reads what phase 1 'c' writes, in no order (workers = 2}}
task.program @side_without_wait symbols [#task.symbol<"n" dim 0, 0 in [7, 2000]>] {
  %x = task.buffer input "x" : !v
  %if = task.buffer input "if" : !c
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.loop 0 "loop" trips n {
    task.phase "c" after all [0] same [] {
      task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 3 deal 1 scratch 0 reads [3] writes [3] sites [] : (!v) -> (!v)
    }
    task.phase "y" after all [1] same [] again_same [2] {
      task.space @p(%b) to (%y) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
    }
  }
}
