// RUN: freestone-opt %s --task-merge-phases | FileCheck %s
// RUN: freestone-opt %s --task-merge-phases='enable=false' | FileCheck %s --check-prefix=OFF

!v = !graph.tensor<[n], f32>
!w = !graph.tensor<[s0], f32>

#map_plan = #tile.plan<#tile.map<rows = 1, columns = 4, lanes = 16, vectors = 1>, tiles = s0 ceildiv 4, scratch = 0,
                       reads = [unit], writes = [unit]>
#rows_plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [16], accumulators = [1]>, tiles = s0 ceildiv 4, scratch = 0,
                        reads = [unit], writes = [unit]>
#contraction_plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 14, least_tiles = 32>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 8, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>, tiles = s0 ceildiv 4, scratch = 0, reads = [unit], writes = [unit]>

// CHECK: module attributes {tile.counters = {merged_phases = 6 : i64}}
tile.program @map symbols [s0](%x: !w) -> (!w) attributes {plan = #map_plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!w) -> !w
  tile.return %y : !w
}
tile.program @other symbols [s0](%x: !w) -> (!w) attributes {plan = #rows_plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!w) -> !w
  tile.return %y : !w
}
tile.program @long symbols [s0](%x: !w) -> (!w) attributes {plan = #contraction_plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!w) -> !w
  tile.return %y : !w
}

// All updates become one phase, with calls of one program adjacent. A program that is not elementwise keeps its own
// phase.
// CHECK-LABEL: task.program @updates
// CHECK:         task.phase "a"
// CHECK-NEXT:      task.space @map(%{{.*}}) to (%[[A:.*]]) sizes
// CHECK-NEXT:      task.space @map(%{{.*}}) to (%[[C:.*]]) sizes
// CHECK-NEXT:      task.space @map(%{{.*}}) to (%[[E:.*]]) sizes
// CHECK-NEXT:      task.space @other(
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase "d"
// CHECK-NEXT:      task.space @long(
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// OFF-LABEL: task.program @updates
// OFF-COUNT-5: task.phase
task.program @updates symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %g = task.buffer input "g" : !v
  %a = task.buffer output "a" : !v
  %b = task.buffer output "b" : !v
  %c = task.buffer output "c" : !v
  %d = task.buffer output "d" : !v
  %e = task.buffer output "e" : !v
  task.phase "a" after all [] same [] {
    task.space @map(%g) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] same [] {
    task.space @other(%g) to (%b) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "c" after all [] same [] {
    task.space @map(%g) to (%c) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "d" after all [] same [] {
    task.space @long(%g) to (%d) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "e" after all [] same [] {
    task.space @map(%g) to (%e) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
}

// A phase that reads another's result comes later. Tiles that stay on the worker of their inputs are not dealt anew,
// unless there is only one.
// CHECK-LABEL: task.program @chains
// CHECK:         task.phase "first"
// CHECK-NEXT:      task.space @map
// CHECK-NEXT:      task.space @map
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase "second"
// CHECK-NEXT:      task.space @map
// CHECK-NEXT:      task.space @map
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase "stays"
// CHECK-NEXT:      task.space @map
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase "stays too"
// CHECK-NEXT:      task.space @map
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase "last"
// CHECK-NEXT:      task.space @map
// CHECK-NEXT:      task.space @map
// CHECK-NEXT:    }
// CHECK-NEXT:  }
task.program @chains symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %c = task.buffer arena : !v
  %d = task.buffer arena : !v
  %e = task.buffer arena : !v
  %f = task.buffer output "f" : !v
  %g = task.buffer output "g" : !v
  %h = task.buffer output "h" : !v
  task.phase "first" after all [] same [] {
    task.space @map(%x) to (%a) sizes [n] tiles 1 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "first too" after all [] same [] {
    task.space @map(%x) to (%b) sizes [n] tiles 1 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "second" after all [] same [] {
    task.space @map(%a) to (%c) sizes [n] tiles 1 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "second too" after all [] same [] {
    task.space @map(%b) to (%d) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "stays" after all [] same [] {
    task.space @map(%d) to (%e) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "stays too" after all [] same [] {
    task.space @map(%e) to (%f) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "last" after all [] same [] {
    task.space @map(%e) to (%g) sizes [n] tiles n ceildiv 8 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
  }
  task.phase "last too" after all [] same [] {
    task.space @map(%d) to (%h) sizes [n] tiles n ceildiv 8 scratch 0 reads [8] writes [8] sites [] : (!v) -> (!v)
  }
}

// No phase is moved across one that binds a size.
// CHECK-LABEL: task.program @binding
// CHECK:         task.phase "before"
// CHECK:         task.phase "count"
// CHECK:         task.phase "behind"
task.program @binding symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 2, 0 in [0, 100] bound #sym.expr<n>>] {
  %x = task.buffer input "x" : !v
  %y = task.buffer output "y" : !v
  %c = task.buffer arena : !graph.tensor<[1], i64>
  %z = task.buffer output "z" : !graph.tensor<[k], f32>
  task.phase "before" after all [] same [] {
    task.space @map(%x) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
  }
  task.phase "count" after all [] same [] binds "k" {
    task.space @map(%x) to (%c) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!graph.tensor<[1], i64>)
  }
  task.phase "behind" after all [] same [] {
    task.space @map(%x) to (%z) sizes [k] tiles k ceildiv 4 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!graph.tensor<[k], f32>)
  }
}
