// RUN: freestone-opt %s --pass-pipeline='builtin.module(task.program(task-order-phases))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(task.program(task-order-phases{elide=false}))' | FileCheck %s --check-prefix=ALL

!v = !graph.tensor<[n], f32>

// No wait if a tile reads what the same tile, of as many, wrote: both spaces get one deal. For other tiles, or unknown
// accesses, all workers wait, but once a phase: a later wait for an earlier phase is implied, and for one of the same
// workers too.
// CHECK-LABEL: task.program @chain
// CHECK:         task.phase "a" after all [] same []
// CHECK:         task.phase "aligned" after all [] same [0]
// CHECK:         task.phase "other tiles" after all [1] same []
// CHECK:         task.phase "anything" after all [2] same []
// CHECK:         task.phase "old" after all [] same [1]
// CHECK:         task.phase "implied" after all [] same []
// ALL-LABEL:   task.program @chain
// ALL:           task.phase "aligned" after all [0] same []
// ALL:           task.phase "other tiles" after all [1] same []
// ALL:           task.phase "anything" after all [2] same []
// ALL:           task.phase "old" after all [] same []
// ALL:           task.phase "implied" after all [] same []
task.program @chain symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %c = task.buffer arena : !v
  %d = task.buffer arena : !v
  %e = task.buffer output "e" : !v
  %f = task.buffer output "f" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "aligned" after all [] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "other tiles" after all [] same [] {
    task.space @p(%b) to (%c) sizes [n] tiles n ceildiv 8 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
  }
  task.phase "anything" after all [] same [] {
    task.space @p(%c) to (%d) sizes [n] tiles n ceildiv 8 scratch 0 reads [?] writes [8] sites [] : (!v) -> (!v)
  }
  task.phase "old" after all [] same [] {
    task.space @p(%b) to (%e) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "implied" after all [] same [] {
    task.space @p(%a) to (%f) sizes [n] tiles n ceildiv 2 scratch 0 reads [?] writes [2] sites [] : (!v) -> (!v)
  }
}

// Tiles with unknown writes are never the reader's own.
// CHECK-LABEL: task.program @spaces
// CHECK:         task.phase "both" after all [] same []
// CHECK:         task.phase "join" after all [0] same [0]
task.program @spaces symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %y = task.buffer output "y" : !v
  task.phase "both" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
    task.space @r(%x) to (%b) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "join" after all [] same [] {
    task.space @q(%a, %b) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [4, 4] writes [4] sites [] : (!v, !v) -> (!v)
  }
}

// Each space has a deal of its own, unless its tiles continue those of another one.
// CHECK-LABEL: task.program @dealt
// CHECK:         task.phase "both" after all [] same []
// CHECK:           task.space @p({{.*}} tiles n ceildiv 4 deal 0
// CHECK:           task.space @p({{.*}} tiles n ceildiv 4 deal 1
// CHECK:         task.phase "alike" after all [] same [0]
// CHECK:           task.space @r({{.*}} tiles n ceildiv 4 deal 0
// CHECK:           task.space @r({{.*}} tiles n ceildiv 4 deal 1
// CHECK:         task.phase "alone" after all [] same [1]
// CHECK:           task.space @p({{.*}} tiles n ceildiv 4 deal 0
task.program @dealt symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %c = task.buffer arena : !v
  %d = task.buffer arena : !v
  %y = task.buffer output "y" : !v
  task.phase "both" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
    task.space @p(%x) to (%b) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "alike" after all [] same [] {
    task.space @r(%a) to (%c) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    task.space @r(%b) to (%d) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "alone" after all [] same [] {
    task.space @p(%c) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
}

// A single tile follows one that it depends on, whatever it touches. Of two that do not depend on each other, it follows
// the first, and waits for the second, which another worker may compute.
// CHECK-LABEL: task.program @only
// CHECK:         task.phase "one" after all [] same []
// CHECK:         task.phase "again" after all [] same [0]
// CHECK:         task.phase "behind" after all [] same [1]
// CHECK:         task.phase "other" after all [] same []
// CHECK:           deal 2
// CHECK:         task.phase "both" after all [3] same [1]
// CHECK:           deal 0
task.program @only symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %y = task.buffer output "y" : !v
  %z = task.buffer output "z" : !v
  %c = task.buffer arena : !v
  %u = task.buffer output "u" : !v
  task.phase "one" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "again" after all [] same [] {
    task.space @q(%a) to (%b) sizes [n] tiles 1 scratch 0 reads [?] writes [n] sites [] : (!v) -> (!v)
  }
  task.phase "behind" after all [] same [] {
    task.space @p(%x) to (%y) sizes [n] tiles n scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
    task.space @p(%b) to (%z) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "other" after all [] same [] {
    task.space @p(%x) to (%c) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "both" after all [] same [] {
    task.space @q(%b, %c) to (%u) sizes [n] tiles 1 scratch 0 reads [?, ?] writes [?] sites [] : (!v, !v) -> (!v)
  }
}

// Where an earlier phase takes longer, only the workers with tiles of the phase are awaited.
// CHECK-LABEL: task.program @apart
// CHECK:         task.phase "long" after all [] same []
// CHECK:         task.phase "short" after all [] same []
// CHECK:         task.phase "next" after all [] tiles [1] same []
// CHECK:         task.phase "join" after all [0] same [2]
task.program @apart symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %c = task.buffer arena : !v
  %y = task.buffer output "y" : !v
  task.phase "long" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles 1 time 90000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "short" after all [] same [] {
    task.space @p(%x) to (%b) sizes [n] tiles 1 time 2000 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "next" after all [] same [] {
    task.space @p(%b) to (%c) sizes [n] tiles n ceildiv 2 scratch 0 reads [?] writes [2] sites [] : (!v) -> (!v)
  }
  task.phase "join" after all [] same [] {
    task.space @q(%c, %a) to (%y) sizes [n] tiles n ceildiv 2 scratch 0 reads [2, ?] writes [2] sites [] : (!v, !v) -> (!v)
  }
}

// Phases after one that binds a size wait for it, since all sizes are then derived anew.
// CHECK-LABEL: task.program @binding
// CHECK:         task.phase "find" after all [] same [] binds "k"
// CHECK:         task.phase "unrelated" after all [0] same []
// CHECK:         task.phase "next" after all [] same [0]
!k = !graph.tensor<[k], i64>
!one = !graph.tensor<[1], i64>
task.program @binding symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 2, 0 in [0, 100] bound #sym.expr<n>>] {
  %x = task.buffer input "x" : !v
  %found = task.buffer arena : !k
  %count = task.buffer arena : !one
  %y = task.buffer output "y" : !v
  %z = task.buffer output "z" : !k
  task.phase "find" after all [] same [] binds "k" {
    task.space @find(%x) to (%found, %count) sizes [n] tiles 1 scratch 0 reads [?] writes [n, ?] sites [] : (!v) -> (!k, !one)
  }
  task.phase "unrelated" after all [] same [] {
    task.space @p(%x) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "next" after all [] same [] {
    task.space @q(%found) to (%z) sizes [k] tiles 1 scratch 0 reads [n] writes [k] sites [] : (!k) -> (!k)
  }
}

// So does a size that is defined by what one binds.
// CHECK-LABEL: task.program @defining
// CHECK:         task.phase "find" after all [] same [] binds "k"
// CHECK:         task.phase "half" after all [0] same []
!half = !graph.tensor<[half], f32>
task.program @defining symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 1, 0 in [0, 100] bound #sym.expr<n>>]
    define [["half", #sym.expr<k floordiv 2>]] {
  %x = task.buffer input "x" : !v
  %count = task.buffer arena : !one
  %y = task.buffer output "y" : !half
  task.phase "find" after all [] same [] binds "k" {
    task.space @find(%x) to (%count) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!one)
  }
  task.phase "half" after all [] same [] {
    task.space @p(%x) to (%y) sizes [half] tiles half ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!half)
  }
}

// A size that is known before a loop lets workers go on with its next iteration; in one that determines a size, each
// iteration comes after all of the one before.
// CHECK-LABEL: task.program @binding_loops
// CHECK:         task.phase "find" after all [] same [] binds "k"
// CHECK:         task.loop 0 "known" trips n after all [0] {
// CHECK-NEXT:      task.phase "next" after all [] same [] again_same [1] {
// CHECK:         task.loop 1 "found" trips n after all [1] again_all [3] {
// CHECK-NEXT:      task.phase "find again" after all [] same [] binds "m"
// CHECK:           task.phase "then" after all [2] same [] {
task.program @binding_loops symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 1, 0 in [0, 100] bound #sym.expr<n>>, #task.symbol<"m" runtime 2, 0 in [0, 100] bound #sym.expr<n>>] {
  %x = task.buffer input "x" : !v
  %count = task.buffer arena : !one
  %again = task.buffer arena : !one
  %y = task.buffer output "y" : !v
  %z = task.buffer output "z" : !v
  task.phase "find" after all [] same [] binds "k" {
    task.space @f(%x) to (%count) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!one)
  }
  task.loop 0 "known" trips n {
    task.phase "next" after all [] same [] {
      task.space @p(%x) to (%y) sizes [k] tiles k ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
  }
  task.loop 1 "found" trips n {
    task.phase "find again" after all [] same [] binds "m" {
      task.space @f(%x) to (%again) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!one)
    }
    task.phase "then" after all [] same [] {
      task.space @p(%x) to (%z) sizes [m] tiles m ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
    }
  }
}

// A writer of a state comes after its earlier readers: without a wait if each tile writes what it read.
// CHECK-LABEL: task.program @state
// CHECK:         task.phase "read anything" after all [] same []
// CHECK:         task.phase "read" after all [] same []
// CHECK:         task.phase "write v" after all [] same [1]
// CHECK:         task.phase "write w" after all [0] same []
// CHECK:         task.phase "write w again" after all [] same [3]
// ALL-LABEL:   task.program @state
// ALL:           task.phase "write v" after all [1] same []
// ALL:           task.phase "write w" after all [] same []
// ALL:           task.phase "write w again" after all [3] same []
!s = !graph.tensor<[100], f32>
task.program @state symbols [] {
  %w = task.buffer state "w" : !s
  %v = task.buffer state "v" : !s
  %y = task.buffer output "y" : !s
  %z = task.buffer output "z" : !s
  task.phase "read anything" after all [] same [] {
    task.space @p(%w) to (%y) sizes [] tiles 25 scratch 0 reads [?] writes [4] sites [] : (!s) -> (!s)
  }
  task.phase "read" after all [] same [] {
    task.space @p(%v) to (%z) sizes [] tiles 25 scratch 0 reads [4] writes [4] sites [] : (!s) -> (!s)
  }
  task.phase "write v" after all [] same [] {
    task.space @p(%v) to (%v) sizes [] tiles 25 scratch 0 reads [4] writes [4] sites [] : (!s) -> (!s)
  }
  task.phase "write w" after all [] same [] {
    task.space @p(%w) to (%w) sizes [] tiles 25 scratch 0 reads [4] writes [4] sites [] : (!s) -> (!s)
  }
  task.phase "write w again" after all [] same [] {
    task.space @p(%w) to (%w) sizes [] tiles 25 scratch 0 reads [4] writes [4] sites [] : (!s) -> (!s)
  }
}
