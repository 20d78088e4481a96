// RUN: freestone-opt %s -split-input-file --pass-pipeline='builtin.module(task.program(task-narrow-waits,task-check-order))' | FileCheck %s
// RUN: freestone-opt %s -split-input-file --pass-pipeline='builtin.module(task.program(task-narrow-waits{enable=false}))' | FileCheck %s --check-prefix=OFF
// OFF-NOT: window

!v = !graph.tensor<[n, 8], f32>

// Three tiles share four rows, then each tile has two: the workers whose tiles made them are awaited. Before, the wait of
// "b" also told that all were done with "a", and that of "y" with %a.
// CHECK-LABEL: task.program @rows {{.*}}task.order = "proved"
// CHECK:         task.buffer arena live [0, 2) released 3 :
// CHECK:         task.buffer arena live [1, 3) :
// CHECK:         task.phase "a" after all [] same []
// CHECK:         task.phase "b" after all [] window [0] same []
// CHECK:         task.phase "y" after all [] window [1] same []
task.program @rows symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena live [0, 2) : !v
  %b = task.buffer arena live [1, 3) : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles 3*(n ceildiv 4) deal 0 scratch 0 reads [?] writes [32 per 3] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 2 deal 1 scratch 0 reads [16] writes [16] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [1] same [] {
    task.space @p(%b) to (%y) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [32] writes [32] sites [] : (!v) -> (!v)
  }
}

// -----

// What any tile may touch is awaited as before. A later phase then knows no more of what came before a window, and waits
// itself: here for a phase that is long done.
!v = !graph.tensor<[n], f32>
// CHECK-LABEL: task.program @unknown {{.*}}task.order = "proved"
// CHECK:         task.phase "b" after all [] window [0] same []
// CHECK:         task.phase "c" after all [0] window [1] same []
// CHECK:         task.phase "d" after all [2] same []
task.program @unknown symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  %c = task.buffer output "c" : !v
  %d = task.buffer output "d" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 8 deal 1 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
  }
  task.phase "c" after all [1] same [] {
    task.space @p(%a, %b) to (%c) sizes [n] tiles n ceildiv 2 deal 2 scratch 0 reads [?, 2] writes [?] sites [] : (!v, !v) -> (!v)
  }
  task.phase "d" after all [2] same [] {
    task.space @p(%c) to (%d) sizes [n] tiles n ceildiv 4 deal 3 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
}

// -----

// An update in place waits for those that read its elements; they have waited for those that wrote them.
!v = !graph.tensor<[n], f32>
// CHECK-LABEL: task.program @in_place {{.*}}task.order = "proved"
// CHECK:         task.phase "read" after all [] window [0] same []
// CHECK:         task.phase "update" after all [] window [1] same []
// CHECK:         task.phase "again" after all [] window [2] same []
task.program @in_place symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  %c = task.buffer output "c" : !v
  task.phase "write" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "read" after all [0] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 8 deal 1 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
  }
  task.phase "update" after all [1] same [] {
    task.space @p(%a) to (%a) sizes [n] tiles n ceildiv 2 deal 2 scratch 0 reads [2] writes [2] sites [] : (!v) -> (!v)
  }
  task.phase "again" after all [2] same [] {
    task.space @p(%a) to (%c) sizes [n] tiles n ceildiv 8 deal 3 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
  }
}

// -----

// Within an iteration as anywhere; not within a branch, of which nothing is known behind it. In the next iteration, a
// worker comes after those that still read what it writes.
!v = !graph.tensor<[n], f32>
!c = !graph.tensor<[], i1>
// CHECK-LABEL: task.program @control {{.*}}task.order = "proved"
// CHECK:         task.loop 0
// CHECK:           task.phase "one" after all [] same [] again_window [1] again_same [0] {
// CHECK:           task.phase "two" after all [] window [0] same [] again_same [1] {
// CHECK:         task.branch
// CHECK:           task.phase "three" after all [] same []
// CHECK:           task.phase "four" after all [2] same []
task.program @control symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !v
  %if = task.buffer input "if" : !c
  %a = task.buffer arena live [0, 4) : !v
  %y = task.buffer output "y" : !v
  %b = task.buffer arena live [2, 4) : !v
  %z = task.buffer output "z" : !v
  task.loop 0 "loop" trips n {
    task.phase "one" after all [] same [] {
      task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
    task.phase "two" after all [0] same [] {
      task.space @p(%a) to (%y) sizes [n] tiles n ceildiv 8 deal 1 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
    }
  }
  task.branch "/if" if %if after all [] : !c {
    task.phase "three" after all [] same [] {
      task.space @p(%x) to (%b) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
    task.phase "four" after all [2] same [] {
      task.space @p(%b) to (%z) sizes [n] tiles n ceildiv 8 deal 3 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
    }
  } else {
  }
}

// -----

// The sides of a branch write the same elements, but a run takes one of them: neither waits for the other.
!v = !graph.tensor<[n], f32>
!c = !graph.tensor<[], i1>
// CHECK-LABEL: task.program @sides {{.*}}task.order = "proved"
// CHECK:         task.phase "left" after all [] same []
// CHECK:         task.phase "right" after all [] same []
task.program @sides symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !v
  %if = task.buffer input "if" : !c
  %y = task.buffer output "y" : !v
  task.branch "/if" if %if after all [] : !c {
    task.phase "left" after all [] same [] {
      task.space @p(%x) to (%y) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
  } else {
    task.phase "right" after all [] same [] {
      task.space @p(%x) to (%y) sizes [n] tiles n ceildiv 8 deal 1 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
    }
  }
}

// -----

// What is carried has two slices in turns: each worker waits for those that wrote the elements that it reads, and before
// it overwrites a slice, for those that read it. What comes after a window of this iteration comes after those before,
// as "next" after what "rows" wrote into %a. What any tile may touch is awaited of all workers.
!v = !graph.tensor<[n], f32>
!s = !graph.tensor<[2, n], f32>
// CHECK-LABEL: task.program @carried {{.*}}task.order = "proved"
// CHECK:         task.loop 0 "loop" trips n {
// CHECK:           task.phase "rows" after all [] same [] again_window [1] again_same [0] {
// CHECK:           task.phase "next" after all [] window [0] same [] again_window [0] again_same [1] {
// CHECK:         task.loop 1 "any" trips n after all [1] {
// CHECK:           task.phase "sum" after all [] same [] again_all [3] {
// CHECK:           task.phase "then" after all [2] same [] {
task.program @carried symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !s
  %s = task.buffer output "s" : !s
  %old = task.view %s loop 0 rotate 2 step 4*n : !s -> !v
  %new = task.view %s loop 0 shift 1 rotate 2 step 4*n : !s -> !v
  %a = task.buffer arena live [0, 2) : !v
  %r = task.buffer output "r" : !s
  %before = task.view %r loop 1 rotate 2 step 4*n : !s -> !v
  %after = task.view %r loop 1 shift 1 rotate 2 step 4*n : !s -> !v
  %b = task.buffer arena live [2, 4) : !v
  task.loop 0 "loop" trips n {
    task.phase "rows" after all [] same [] {
      task.space @p(%old) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
    task.phase "next" after all [0] same [] {
      task.space @p(%a) to (%new) sizes [n] tiles n ceildiv 8 deal 1 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
    }
  }
  task.loop 1 "any" trips n after all [1] {
    task.phase "sum" after all [] same [] {
      task.space @p(%before) to (%b) sizes [n] tiles n ceildiv 4 deal 2 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
    }
    task.phase "then" after all [2] same [] {
      task.space @p(%b) to (%after) sizes [n] tiles n ceildiv 8 deal 3 scratch 0 reads [?] writes [8] sites [] : (!v) -> (!v)
    }
  }
}

// -----

// A side of a branch that touches what its workers touched before waits for nobody.
!v = !graph.tensor<[n], f32>
!c = !graph.tensor<[], i1>
// CHECK-LABEL: task.program @own_side {{.*}}task.order = "proved"
// CHECK:         task.phase "copy" after all [] same [0]
// CHECK:         task.phase "other" after all [0] same []
task.program @own_side symbols [#task.symbol<"n" dim 0, 0 in [0, 1000]>] {
  %x = task.buffer input "x" : !v
  %if = task.buffer input "if" : !c
  %a = task.buffer arena live [0, 3) : !v
  %y = task.buffer output "y" : !v
  task.phase "make" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.branch "/if" if %if after all [] : !c {
    task.phase "copy" after all [] same [0] {
      task.space @p(%a) to (%y) sizes [n] tiles n ceildiv 4 deal 0 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
  } else {
    task.phase "other" after all [0] same [] {
      task.space @p(%a) to (%y) sizes [n] tiles n ceildiv 8 deal 1 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
    }
  }
}
