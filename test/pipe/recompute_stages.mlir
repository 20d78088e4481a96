// RUN: freestone-opt --pipe-cut-stages="stages=0,0,1" %s | FileCheck --check-prefix=KEPT %s
// RUN: freestone-opt --pipe-cut-stages="stages=0,0,1 recompute=0,1" %s | FileCheck %s

// h = x * a and y = h * h on the first stage, the loss on the second. The gradient of a reads h.

// KEPT-LABEL: func.func @stage_0_forward(
// KEPT-SAME: -> (!graph.tensor<[n], f32> {graph.name = "{{pipe/[0-9]+}}"}, !graph.tensor<[n], f32> {graph.name = "[[H:pipe/[0-9]+]]"})
// KEPT-NOT: recompute
// KEPT-LABEL: func.func @stage_0_backward(
// KEPT-SAME: "[[H]]"

// The forward pass returns what is sent alone; h is made once more before the gradients.
// CHECK-LABEL: func.func @stage_0_forward(
// CHECK-SAME: -> (!graph.tensor<[n], f32> {graph.name = "[[Y:pipe/[0-9]+]]"})
// CHECK-COUNT-2: tile.compute
// CHECK-LABEL: func.func @stage_1_forward(
// CHECK-SAME: "[[Y]]"
// What the gradients of the second stage read is received: nothing is computed anew there.
// CHECK-NOT: stage_1_recompute
// CHECK-LABEL: func.func @stage_1_backward(
// CHECK-LABEL: func.func @stage_0_recompute(
// CHECK-SAME: {graph.name = "x"}
// CHECK-SAME: -> (!graph.tensor<[n], f32> {graph.name = "[[H:pipe/[0-9]+]]"})
// CHECK-COUNT-1: tile.compute
// CHECK-LABEL: func.func @stage_0_backward(
// CHECK-SAME: "[[H]]"

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
  %h = tile.compute [n] [parallel] ins(%x : #id, %a : #one) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[n], f32>
  %y = tile.compute [n] [parallel] ins(%h : #id) {
  ^bb0(%p: f32):
    %0 = arith.mulf %p, %p : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
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
  %dh = tile.compute [n] [parallel] ins(%dy : #id, %h : #id) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %da = tile.compute [n] [reduction] ins(%dh : #id, %x : #id, %ga : #one) init [0.000000e+00 : f32] {
  ^bb0(%p: f32, %q: f32, %s: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    tile.yield %1 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  return %da, %db, %loss : !graph.tensor<[], f32>, !graph.tensor<[], f32>, !graph.tensor<[], f32>
}

func.func @update(%a: !graph.tensor<[], f32> {graph.state = "a", step.parameter = 0 : i64},
                  %ga: !graph.tensor<[], f32> {graph.state = "accumulated/gradient/a", step.parameter = 0 : i64, step.role = "gradient"})
    -> (!graph.tensor<[], f32> {graph.state = "a", step.parameter = 0 : i64}) {
  %na = tile.compute [] [] ins(%a : #none, %ga : #none) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.subf %p, %q : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  return %na : !graph.tensor<[], f32>
}

func.func @evaluate(%x: !graph.tensor<[n], f32> {graph.name = "x"},
                    %a: !graph.tensor<[], f32> {graph.state = "a", step.parameter = 0 : i64})
    -> (!graph.tensor<[n], f32> {graph.name = "out"}) attributes {graph.symbols = {n = #sym.bounds<[1, inf]>}} {
  %h = tile.compute [n] [parallel] ins(%x : #id, %a : #one) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    tile.yield %0 : f32
  } : (!graph.tensor<[n], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[n], f32>
  return %h : !graph.tensor<[n], f32>
}
