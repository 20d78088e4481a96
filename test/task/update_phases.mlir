// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,tile-inline-producers,cse,tile-fuse,tile-coalesce-loops,cse,tile-shorten-live-ranges,task-copy-results),task-update-state,tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases,task-merge-phases,task.program(task-order-phases))' \
// RUN:   | FileCheck %s

// An optimizer step with a global gradient norm: row sums of every gradient, their totals, the factor, the updates.
// Four phases, for any number and shapes of parameters; one program updates all.
// CHECK-LABEL: task.program @main
// CHECK:         task.phase
// CHECK-NEXT:      task.space
// CHECK-NEXT:      task.space
// CHECK-NEXT:      task.space
// CHECK-NEXT:      task.space
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase
// CHECK-NEXT:      task.space
// CHECK-NEXT:      task.space
// CHECK-NEXT:      task.space
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase
// CHECK-NEXT:      task.space
// CHECK-NEXT:    }
// CHECK-NEXT:    task.phase
// CHECK-NEXT:      task.space @[[UPDATE:p[0-9]+]](
// CHECK-NEXT:      task.space @[[UPDATE]](
// CHECK-NEXT:      task.space @[[UPDATE]](
// CHECK-NEXT:      task.space @[[UPDATE]](
// CHECK-NEXT:    }
// CHECK-NOT:     task.phase
func.func @main(%ga: !graph.tensor<[128], f32> {graph.name = "ga"}, %a: !graph.tensor<[128], f32> {graph.state = "a"},
                %gb: !graph.tensor<[96, 128], f32> {graph.name = "gb"}, %b: !graph.tensor<[96, 128], f32> {graph.state = "b"},
                %gc: !graph.tensor<[128, 4, 64], f32> {graph.name = "gc"}, %c: !graph.tensor<[128, 4, 64], f32> {graph.state = "c"},
                %gd: !graph.tensor<[200], f32> {graph.name = "gd"}, %d: !graph.tensor<[200], f32> {graph.state = "d"})
    -> (!graph.tensor<[128], f32> {graph.state = "a"}, !graph.tensor<[96, 128], f32> {graph.state = "b"},
        !graph.tensor<[128, 4, 64], f32> {graph.state = "c"}, !graph.tensor<[200], f32> {graph.state = "d"}) {
  %ra = graph.reshape %ga : !graph.tensor<[128], f32> -> !graph.tensor<[1, 128], f32>
  %rd = graph.reshape %gd : !graph.tensor<[200], f32> -> !graph.tensor<[1, 200], f32>
  %qa = graph.binary mul %ra, %ra : !graph.tensor<[1, 128], f32>
  %qb = graph.binary mul %gb, %gb : !graph.tensor<[96, 128], f32>
  %qc = graph.binary mul %gc, %gc : !graph.tensor<[128, 4, 64], f32>
  %qd = graph.binary mul %rd, %rd : !graph.tensor<[1, 200], f32>
  %sa = graph.reduce add %qa axes [1] : !graph.tensor<[1, 128], f32>
  %sb = graph.reduce add %qb axes [1] : !graph.tensor<[96, 128], f32>
  %sc = graph.reduce add %qc axes [1, 2] : !graph.tensor<[128, 4, 64], f32>
  %sd = graph.reduce add %qd axes [1] : !graph.tensor<[1, 200], f32>
  %ta = graph.reduce add %sa axes [0] : !graph.tensor<[1], f32>
  %tb = graph.reduce add %sb axes [0] : !graph.tensor<[96], f32>
  %tc = graph.reduce add %sc axes [0] : !graph.tensor<[128], f32>
  %td = graph.reduce add %sd axes [0] : !graph.tensor<[1], f32>
  %tab = graph.binary add %ta, %tb : !graph.tensor<[], f32>
  %tabc = graph.binary add %tab, %tc : !graph.tensor<[], f32>
  %total = graph.binary add %tabc, %td : !graph.tensor<[], f32>
  %factor = graph.unary rsqrt %total : !graph.tensor<[], f32>
  %fa = graph.broadcast %factor dims [] : !graph.tensor<[], f32> -> !graph.tensor<[128], f32>
  %fb = graph.broadcast %factor dims [] : !graph.tensor<[], f32> -> !graph.tensor<[96, 128], f32>
  %fc = graph.broadcast %factor dims [] : !graph.tensor<[], f32> -> !graph.tensor<[128, 4, 64], f32>
  %fd = graph.broadcast %factor dims [] : !graph.tensor<[], f32> -> !graph.tensor<[200], f32>
  %ua = graph.binary mul %ga, %fa : !graph.tensor<[128], f32>
  %ub = graph.binary mul %gb, %fb : !graph.tensor<[96, 128], f32>
  %uc = graph.binary mul %gc, %fc : !graph.tensor<[128, 4, 64], f32>
  %ud = graph.binary mul %gd, %fd : !graph.tensor<[200], f32>
  %na = graph.binary sub %a, %ua : !graph.tensor<[128], f32>
  %nb = graph.binary sub %b, %ub : !graph.tensor<[96, 128], f32>
  %nc = graph.binary sub %c, %uc : !graph.tensor<[128, 4, 64], f32>
  %nd = graph.binary sub %d, %ud : !graph.tensor<[200], f32>
  return %na, %nb, %nc, %nd : !graph.tensor<[128], f32>, !graph.tensor<[96, 128], f32>, !graph.tensor<[128, 4, 64], f32>, !graph.tensor<[200], f32>
}
