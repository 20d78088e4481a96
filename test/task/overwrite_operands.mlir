// RUN: freestone-opt %s --task-overwrite-operands | FileCheck %s
// RUN: freestone-opt %s --task-overwrite-operands='enable=false' | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --pass-pipeline='builtin.module(task-overwrite-operands,task.program(task-plan-memory,task-check-order))' -o /dev/null

!m = !graph.tensor<[n, 64], f32>
!h = !graph.tensor<[n, 64], f16>
!r = !graph.tensor<[n], f32>
!a = !graph.tensor<[s0, s1], f32>
!b = !graph.tensor<[s0, s1], f16>
!s = !graph.tensor<[s0], f32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

#map_plan = #tile.plan<#tile.map<rows = 4, columns = s1, lanes = 16, vectors = 1>, tiles = s0 ceildiv 4, scratch = 0,
                       reads = [#sym.expr<4*s1>], writes = [#sym.expr<4*s1>]>
#rows_plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [1, 1], lanes = [16, 16], accumulators = [1, 1]>,
                        tiles = s0 ceildiv 4, scratch = 0, reads = [#sym.expr<4*s1>], writes = [#sym.expr<4*s1>]>
#both_plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [1, 1], lanes = [16, 16], accumulators = [1, 1]>,
                        tiles = s0 ceildiv 4, scratch = 0, reads = [#sym.expr<4*s1>, #sym.expr<4*s1>],
                        writes = [#sym.expr<4*s1>, #sym.expr<4*s1>]>

// CHECK: module attributes {tile.counters = {overwritten = 7 : i64}}
// OFF-NOT: overwritten
tile.program @map symbols [s0, s1](%x: !a) -> (!a) attributes {plan = #map_plan} {
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : #id) {
  ^bb0(%e: f32):
    %z = arith.negf %e : f32
    tile.yield %z : f32
  } : (!a) -> !a
  tile.return %y : !a
}
tile.program @narrow symbols [s0, s1](%x: !a) -> (!b) attributes {plan = #map_plan} {
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : #id) {
  ^bb0(%e: f32):
    %z = arith.truncf %e : f32 to f16
    tile.yield %z : f16
  } : (!a) -> !b
  tile.return %y : !b
}
tile.program @reversed symbols [s0, s1](%x: !a) -> (!a) attributes {plan = #map_plan} {
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : affine_map<(d0, d1)[s0] -> (s0 - d0 - 1, d1)>) symbols [s0] {
  ^bb0(%e: f32):
    tile.yield %e : f32
  } : (!a) -> !a
  tile.return %y : !a
}
// The whole row is read before its first element is written.
tile.program @centered symbols [s0, s1](%x: !a) -> (!a) attributes {plan = #rows_plan} {
  %sum = tile.compute [s0, s1] [parallel, reduction] ins(%x : #id) init [0.0 : f32] {
  ^bb0(%e: f32, %acc: f32):
    %z = arith.addf %acc, %e : f32
    tile.yield %z : f32
  } : (!a) -> !s
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : #id, %sum : #row) {
  ^bb0(%e: f32, %t: f32):
    %z = arith.subf %e, %t : f32
    tile.yield %z : f32
  } : (!a, !s) -> !a
  tile.return %y : !a
}
// The pass that computes %y reads %x, after the first pass has written %n.
tile.program @both symbols [s0, s1](%x: !a, %w: !a) -> (!a, !a) attributes {plan = #both_plan} {
  %n = tile.compute [s0, s1] [parallel, parallel] ins(%x : #id) {
  ^bb0(%e: f32):
    %z = arith.negf %e : f32
    tile.yield %z : f32
  } : (!a) -> !a
  %sum = tile.compute [s0, s1] [parallel, reduction] ins(%w : #id) init [0.0 : f32] {
  ^bb0(%e: f32, %acc: f32):
    %z = arith.addf %acc, %e : f32
    tile.yield %z : f32
  } : (!a) -> !s
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : #id, %sum : #row) {
  ^bb0(%e: f32, %t: f32):
    %z = arith.subf %e, %t : f32
    tile.yield %z : f32
  } : (!a, !s) -> !a
  tile.return %n, %y : !a, !a
}

// Elementwise, row by row, and into the output at last: all in the memory of the output.
// CHECK-LABEL: task.program @chain
// CHECK-NEXT:    %[[X:[0-9]+]] = task.buffer input
// CHECK-NEXT:    %[[Y:[0-9]+]] = task.buffer output
// CHECK-NOT:     task.buffer
// CHECK:         task.space @map(%[[X]]) to (%[[Y]])
// CHECK:         task.space @centered(%[[Y]]) to (%[[Y]])
// CHECK:         task.space @map(%[[Y]]) to (%[[Y]])
// OFF-LABEL:   task.program @chain
// OFF-COUNT-4:   task.buffer
task.program @chain symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !m
  %y = task.buffer output "y" : !m
  %a = task.buffer arena : !m
  %b = task.buffer arena : !m
  task.phase "a" after all [] same [] {
    task.space @map(%x) to (%a) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "b" after all [] same [0] {
    task.space @centered(%a) to (%b) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "c" after all [] same [1] {
    task.space @map(%b) to (%y) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
}

// Inputs stay as they are; what is read later, at other elements or in another width is not overwritten.
// CHECK-LABEL: task.program @kept
// CHECK-COUNT-5: task.buffer
task.program @kept symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !m
  %a = task.buffer arena : !m
  %b = task.buffer arena : !m
  %o = task.buffer output "o" : !m
  %p = task.buffer output "p" : !h
  task.phase "first" after all [] same [] {
    task.space @map(%x) to (%a) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "early" after all [] same [0] {
    task.space @map(%a) to (%b) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "reversed" after all [0] same [] {
    task.space @reversed(%a) to (%o) sizes [n, 64] tiles n ceildiv 4 deal 1 scratch 0 reads [?] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "narrow" after all [] same [1] {
    task.space @narrow(%b) to (%p) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!h)
  }
}

// Of the results of one program, the one that is written behind the last pass that reads it lies over the operand.
// CHECK-LABEL: task.program @second
// CHECK:         task.space @both(%[[C:[0-9]+]], %{{.*}}) to (%{{.*}}, %[[C]])
task.program @second symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !m
  %u = task.buffer output "u" : !m
  %v = task.buffer output "v" : !m
  %c = task.buffer arena : !m
  task.phase "a" after all [] same [] {
    task.space @map(%x) to (%c) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "b" after all [] same [0] {
    task.space @both(%c, %x) to (%u, %v) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256, 256] writes [256, 256] sites [] : (!m, !m) -> (!m, !m)
  }
}

// Another reader of the operand is known to be done, as "d" waits for all of "c". In "e" it is not, as nothing waits for
// "reader", whose tiles belong to other workers.
// CHECK-LABEL: task.program @readers
// CHECK:         task.phase "d" after all [2]
// CHECK-NEXT:      task.space @map(%[[A:[0-9]+]]) to (%[[A]])
// CHECK:         task.phase "reader"
// CHECK-NEXT:      task.space @reversed(%[[A]])
// CHECK:         task.phase "e"
// CHECK-NEXT:      task.space @map(%[[A]]) to (%[[Y:[0-9]+]]) sizes
task.program @readers symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !m
  %p = task.buffer output "p" : !m
  %q = task.buffer output "q" : !m
  %y = task.buffer output "y" : !m
  %a = task.buffer arena : !m
  %d = task.buffer arena : !m
  task.phase "a" after all [] same [] {
    task.space @map(%x) to (%a) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "b" after all [0] same [] {
    task.space @reversed(%a) to (%p) sizes [n, 64] tiles n ceildiv 4 deal 1 scratch 0 reads [?] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "c" after all [] same [1] {
    task.space @narrow(%a) to (%q) sizes [n, 64] tiles n ceildiv 4 deal 1 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "d" after all [2] same [0] {
    task.space @map(%a) to (%d) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "reader" after all [3] same [] {
    task.space @reversed(%d) to (%p) sizes [n, 64] tiles n ceildiv 4 deal 2 scratch 0 reads [?] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "e" after all [] same [3] {
    task.space @map(%d) to (%y) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
}

// A reader whose tiles belong to the same workers is done before, which an edge says from now on.
// CHECK-LABEL: task.program @same
// CHECK:         task.phase "c" after all [] same [0, 1]
// CHECK-NEXT:      task.space @map(%[[A:[0-9]+]]) to (%[[A]])
task.program @same symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !m
  %p = task.buffer output "p" : !m
  %y = task.buffer output "y" : !m
  %a = task.buffer arena : !m
  task.phase "a" after all [] same [] {
    task.space @map(%x) to (%a) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "b" after all [] same [0] {
    task.space @map(%a) to (%p) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "c" after all [] same [0] {
    task.space @map(%a) to (%y) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
}

// Of two spaces of a phase that read one operand, neither overwrites it, as they have no order.
// CHECK-LABEL: task.program @merged
// CHECK:         task.phase "b"
// CHECK-NEXT:    task.space @map(%[[A:[0-9]+]]) to (%[[Y:[0-9]+]]) sizes
// CHECK-NEXT:    task.space @map(%[[A]]) to (%[[Z:[0-9]+]]) sizes
task.program @merged symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !m
  %y = task.buffer output "y" : !m
  %z = task.buffer output "z" : !m
  %a = task.buffer arena : !m
  task.phase "a" after all [] same [] {
    task.space @map(%x) to (%a) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "b" after all [] same [0] {
    task.space @map(%a) to (%y) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
    task.space @map(%a) to (%z) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
}

// Within an iteration, but not what an iteration reads that is around the loop. The next iteration begins when nothing
// reads the result any more.
// CHECK-LABEL: task.program @loop
// CHECK:         task.loop 0
// CHECK:           task.space @map(%[[A:[0-9]+]]) to (%[[B:[0-9]+]]) sizes
// CHECK:           task.space @map(%[[B]]) to (%[[B]]) sizes
// CHECK:           task.space @reversed(%[[B]])
task.program @loop symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !m
  %y = task.buffer output "y" : !m
  %a = task.buffer arena : !m
  %b = task.buffer arena : !m
  %c = task.buffer arena : !m
  task.phase "a" after all [] same [] {
    task.space @map(%x) to (%a) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.loop 0 "loop" trips 3 after all [0] {
    task.phase "b" after all [] same [0] again_all [3] {
      task.space @map(%a) to (%b) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
    }
    task.phase "c" after all [] same [1] {
      task.space @map(%b) to (%c) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
    }
    task.phase "d" after all [2] same [] {
      task.space @reversed(%c) to (%y) sizes [n, 64] tiles n ceildiv 4 deal 1 scratch 0 reads [?] writes [256] sites [] : (!m) -> (!m)
    }
  }
}

// Not where workers write the operand again while others may still read the result of the iteration before.
// CHECK-LABEL: task.program @overlapping
// CHECK:         task.loop 0
// CHECK:           task.space @map(%{{[0-9]+}}) to (%[[B:[0-9]+]]) sizes
// CHECK:           task.space @map(%[[B]]) to (%[[C:[0-9]+]]) sizes
// CHECK:           task.space @reversed(%[[C]])
task.program @overlapping symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !m
  %y = task.buffer output "y" : !m
  %b = task.buffer arena : !m
  %c = task.buffer arena : !m
  task.loop 0 "loop" trips 3 {
    task.phase "b" after all [] same [] again_same [0, 1] {
      task.space @map(%x) to (%b) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
    }
    task.phase "c" after all [] same [0] again_all [2] {
      task.space @map(%b) to (%c) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
    }
    task.phase "d" after all [1] same [] {
      task.space @reversed(%c) to (%y) sizes [n, 64] tiles n ceildiv 4 deal 1 scratch 0 reads [?] writes [256] sites [] : (!m) -> (!m)
    }
  }
}

// The buffer of a size stays as it is, and the symbol finds it under its new number.
// CHECK-LABEL: task.program @binding symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 3, 0
// CHECK:         task.space @map(%[[A:[0-9]+]]) to (%[[A]])
task.program @binding symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 4, 0 in [0, 100] bound #sym.expr<n>>] {
  %x = task.buffer input "x" : !m
  %y = task.buffer output "y" : !m
  %a = task.buffer arena : !m
  %b = task.buffer arena : !m
  %count = task.buffer arena : !graph.tensor<[1], i64>
  task.phase "a" after all [] same [] {
    task.space @map(%x) to (%a) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "b" after all [] same [0] {
    task.space @map(%a) to (%b) sizes [n, 64] tiles n ceildiv 4 deal 0 scratch 0 reads [256] writes [256] sites [] : (!m) -> (!m)
  }
  task.phase "find" after all [1] same [] binds "k" {
    task.space @find(%b) to (%count) sizes [n] tiles 1 deal 1 scratch 0 reads [?] writes [?] sites [] : (!m) -> (!graph.tensor<[1], i64>)
  }
  task.phase "c" after all [2] same [] {
    task.space @reversed(%b) to (%y) sizes [k, 64] tiles k ceildiv 4 deal 2 scratch 0 reads [?] writes [256] sites [] : (!m) -> (!m)
  }
}
