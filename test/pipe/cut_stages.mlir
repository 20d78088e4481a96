// RUN: freestone-opt --pipe-cut-stages="stages=0,1" %s | FileCheck %s
// RUN: freestone-opt --pipe-cut-stages="stages=0,1" --pipe-keep-stage="stage=1" %s | FileCheck --check-prefix=KEEP %s
// RUN: not freestone-opt --pipe-cut-stages="stages=1,0" %s 2>&1 | FileCheck --check-prefix=ORDER %s
// RUN: not freestone-opt --pipe-cut-stages="stages=0" %s 2>&1 | FileCheck --check-prefix=COUNT %s

// y = x * a on the first stage, the loss sum(y * b) on the second. The gradient of a needs that of y.

// CHECK: pipe.description = "{{.*}}shared{{.*}}stages{{.*}}2{{.*}}symbols{{.*}}n
// CHECK-LABEL: func.func @stage_0_forward(
// CHECK-SAME: tensor<[n, 0], i8> {graph.name = "pipe/sizes"}
// CHECK-SAME: {graph.name = "x"}
// CHECK-SAME: {graph.state = "a", step.parameter = 0 : i64}
// CHECK-SAME: -> (!graph.tensor<[n], f32> {graph.name = "[[Y:pipe/[0-9]+]]"})
// CHECK-LABEL: func.func @stage_1_forward(
// CHECK-SAME: {graph.name = "[[Y]]"}
// CHECK-SAME: -> (!graph.tensor<[], f32> {graph.state = "accumulated/loss", step.role = "loss"})
// CHECK-LABEL: func.func @stage_1_backward(
// CHECK-SAME: -> (
// CHECK-SAME: {graph.name = "[[G:pipe/[0-9]+]]"}
// CHECK-LABEL: func.func @stage_0_backward(
// CHECK-SAME: {graph.name = "[[G]]"}
// CHECK-SAME: {graph.name = "x"}
// CHECK-SAME: -> (!graph.tensor<[], f32> {graph.state = "accumulated/gradient/a", step.parameter = 0 : i64, step.role = "gradient"})
// Every stage computes the norm from the squares of both.
// CHECK-LABEL: func.func @stage_0_norms(
// CHECK-SAME: {graph.name = "[[A:pipe/[0-9]+]]"}
// CHECK-LABEL: func.func @stage_1_norms(
// CHECK-SAME: {graph.name = "[[B:pipe/[0-9]+]]"}
// CHECK-LABEL: func.func @stage_0_update(
// CHECK-DAG: {graph.name = "[[A]]"}
// CHECK-DAG: {graph.name = "[[B]]"}
// CHECK-LABEL: func.func @stage_1_update(

// KEEP-NOT: stage_
// KEEP: func.func @main(
// KEEP: func.func @backward(
// KEEP: func.func @norms(
// KEEP: func.func @update(
// KEEP: func.func @evaluate(

// ORDER: error: is on stage 0, but reads what stage 1 makes
// COUNT: error: the stages are given for 1 operations, but there are 2 in the forward pass

#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
#none = affine_map<() -> ()>

func.func @main(%x: !graph.tensor<[n], f32> {graph.name = "x"},
                %a: !graph.tensor<[], f32> {graph.state = "a", step.parameter = 0 : i64},
                %b: !graph.tensor<[], f32> {graph.state = "b", step.parameter = 1 : i64},
                %ga: !graph.tensor<[], f32> {graph.state = "accumulated/gradient/a", step.parameter = 0 : i64, step.role = "gradient"},
                %gb: !graph.tensor<[], f32> {graph.state = "accumulated/gradient/b", step.parameter = 1 : i64, step.role = "gradient"},
                %sum: !graph.tensor<[], f32> {graph.state = "accumulated/loss", step.role = "loss"})
    -> (!graph.tensor<[], f32> {graph.state = "accumulated/gradient/a", step.parameter = 0 : i64, step.role = "gradient"},
        !graph.tensor<[], f32> {graph.state = "accumulated/gradient/b", step.parameter = 1 : i64, step.role = "gradient"},
        !graph.tensor<[], f32> {graph.state = "accumulated/loss", step.role = "loss"}) attributes {graph.symbols = {n = #sym.bounds<[1, inf]>}} {
  %y = tile.compute [n] [parallel] ins(%x : #id, %a : #one) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[n], f32>
  %loss = tile.compute [n] [reduction] ins(%y : #id, %b : #one, %sum : #one) init [0.000000e+00 : f32] {
  ^bb0(%p: f32, %q: f32, %s: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    tile.yield %1 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  %db = tile.compute [n] [reduction] ins(%y : #id, %gb : #one) init [0.000000e+00 : f32] {
  ^bb0(%p: f32, %s: f32, %acc: f32):
    %0 = arith.addf %acc, %p : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  %dy = tile.compute [n] [parallel] ins(%b : #one) {
  ^bb0(%p: f32):
    tile.yield %p : f32
  } : (!graph.tensor<[], f32>) -> !graph.tensor<[n], f32>
  %da = tile.compute [n] [reduction] ins(%dy : #id, %x : #id, %ga : #one) init [0.000000e+00 : f32] {
  ^bb0(%p: f32, %q: f32, %s: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    tile.yield %1 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  return %da, %db, %loss : !graph.tensor<[], f32>, !graph.tensor<[], f32>, !graph.tensor<[], f32>
}

func.func @update(%a: !graph.tensor<[], f32> {graph.state = "a", step.parameter = 0 : i64},
                  %b: !graph.tensor<[], f32> {graph.state = "b", step.parameter = 1 : i64},
                  %ga: !graph.tensor<[], f32> {graph.state = "accumulated/gradient/a", step.parameter = 0 : i64, step.role = "gradient"},
                  %gb: !graph.tensor<[], f32> {graph.state = "accumulated/gradient/b", step.parameter = 1 : i64, step.role = "gradient"})
    -> (!graph.tensor<[], f32> {graph.state = "a", step.parameter = 0 : i64},
        !graph.tensor<[], f32> {graph.state = "b", step.parameter = 1 : i64},
        !graph.tensor<[], f32> {graph.name = "norm"}) {
  %sa = tile.compute [] [] ins(%ga : #none) {
  ^bb0(%p: f32):
    %0 = arith.mulf %p, %p : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  %sb = tile.compute [] [] ins(%gb : #none) {
  ^bb0(%p: f32):
    %0 = arith.mulf %p, %p : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  %norm = tile.compute [] [] ins(%sa : #none, %sb : #none) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  %na = tile.compute [] [] ins(%a : #none, %ga : #none, %norm : #none) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %0 = arith.divf %q, %r : f32
    %1 = arith.subf %p, %0 : f32
    tile.yield %1 : f32
  } : (!graph.tensor<[], f32>, !graph.tensor<[], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  %nb = tile.compute [] [] ins(%b : #none, %gb : #none, %norm : #none) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %0 = arith.divf %q, %r : f32
    %1 = arith.subf %p, %0 : f32
    tile.yield %1 : f32
  } : (!graph.tensor<[], f32>, !graph.tensor<[], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  return %na, %nb, %norm : !graph.tensor<[], f32>, !graph.tensor<[], f32>, !graph.tensor<[], f32>
}

func.func @evaluate(%x: !graph.tensor<[n], f32> {graph.name = "x"},
                    %a: !graph.tensor<[], f32> {graph.state = "a", step.parameter = 0 : i64},
                    %b: !graph.tensor<[], f32> {graph.state = "b", step.parameter = 1 : i64})
    -> (!graph.tensor<[n], f32> {graph.name = "out"}) attributes {graph.symbols = {n = #sym.bounds<[1, inf]>}} {
  %y = tile.compute [n] [parallel] ins(%x : #id, %a : #one) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[n], f32>
  %z = tile.compute [n] [parallel] ins(%y : #id, %b : #one) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[n], f32>
  return %z : !graph.tensor<[n], f32>
}
