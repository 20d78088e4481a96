// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-hoist-from-scans),graph-simplify)' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-hoist-from-scans{enable=false}))' | FileCheck %s --check-prefix=OFF

!x = !graph.tensor<[t, b, 4], f32>
!slice = !graph.tensor<[b, 4], f32>
!h = !graph.tensor<[b, 8], f32>
!w = !graph.tensor<[4, 8], f32>
!r = !graph.tensor<[8, 8], f32>

// The product of the state stays; the slices that were factors alone are no longer scanned.
// CHECK-LABEL: func.func @cell
// CHECK-SAME:    graph.scan_products = 1
// CHECK:         %[[ALL:.*]] = graph.contract %arg0, %arg2 batch [] x [] contract [2] x [0] : <[t, b, 4], f32>, <[4, 8], f32>
// CHECK:         graph.scan carry %arg1 : !graph.tensor<[b, 8], f32> over %[[ALL]] : !graph.tensor<[t, b, 8], f32>
// CHECK:         ^bb0(%[[H:.*]]: !graph.tensor<[b, 8], f32>, %[[PRODUCT:.*]]: !graph.tensor<[b, 8], f32>):
// CHECK:           %[[OF_STATE:.*]] = graph.contract %[[H]], %arg3
// CHECK:           graph.binary add %[[OF_STATE]], %[[PRODUCT]]
// OFF-LABEL: func.func @cell
// OFF-NOT:     graph.scan_products
// OFF:         graph.scan carry
// OFF:           graph.contract
// OFF:           graph.contract
func.func @cell(%x: !x, %h: !h, %w: !w, %r: !r) -> !h {
  %last = graph.scan carry %h : !h over %x : !x {
  ^bb0(%state: !h, %slice: !slice):
    %0 = graph.contract %slice, %w batch [] x [] contract [1] x [0] : !slice, !w
    %1 = graph.contract %state, %r batch [] x [] contract [1] x [0] : !h, !r
    %2 = graph.binary add %1, %0 : !h
    graph.yield %2 : !h
  } -> !h
  return %last : !h
}

// What elementwise operators and changes of shape make of slices comes before, too; the slices are still needed within.
// CHECK-LABEL: func.func @derived
// CHECK:         %[[EXP:.*]] = graph.unary exp %arg0 : <[t, b, 4], f32>
// CHECK:         %[[SCALED:.*]] = graph.binary mul %[[EXP]], %{{.*}} : <[t, b, 4], f32>
// CHECK:         %[[ACROSS:.*]] = graph.transpose %[[SCALED]] [0, 2, 1] : <[t, b, 4], f32>
// CHECK:         %[[ALL:.*]] = graph.contract %arg2, %[[ACROSS]] batch [] x [] contract [0] x [1]
// CHECK:         %[[FIRST:.*]] = graph.transpose %[[ALL]] [1, 0, 2] : <[8, t, b], f32>
// CHECK:         graph.scan carry %{{.*}} over %arg0, %[[FIRST]] : !graph.tensor<[t, b, 4], f32>, !graph.tensor<[t, 8, b], f32>
func.func @derived(%x: !x, %h: !graph.tensor<[8, b], f32>, %w: !w, %s: !slice)
    -> (!graph.tensor<[8, b], f32>, !x) {
  %last, %all = graph.scan carry %h : !graph.tensor<[8, b], f32> over %x : !x {
  ^bb0(%state: !graph.tensor<[8, b], f32>, %slice: !slice):
    %0 = graph.unary exp %slice : !slice
    %1 = graph.binary mul %0, %s : !slice
    %2 = graph.transpose %1 [1, 0] : !slice
    %3 = graph.contract %w, %2 batch [] x [] contract [0] x [0] : !w, !graph.tensor<[4, b], f32>
    %4 = graph.binary add %state, %3 : !graph.tensor<[8, b], f32>
    graph.yield %4, %slice : !graph.tensor<[8, b], f32>, !slice
  } -> !graph.tensor<[8, b], f32>, !x
  return %last, %all : !graph.tensor<[8, b], f32>, !x
}

// Two factors of slices: the steps are a batch dimension, before the others.
// CHECK-LABEL: func.func @both
// CHECK:         graph.contract %arg0, %arg1 batch [0, 1] x [0, 1] contract [2] x [2] : <[t, b, 4], f32>, <[t, b, 4], f32>
func.func @both(%x: !x, %y: !x, %h: !graph.tensor<[b], f32>) -> !graph.tensor<[b], f32> {
  %last = graph.scan carry %h : !graph.tensor<[b], f32> over %x, %y : !x, !x {
  ^bb0(%state: !graph.tensor<[b], f32>, %one: !slice, %other: !slice):
    %0 = graph.contract %one, %other batch [0] x [0] contract [1] x [1] : !slice, !slice
    %1 = graph.binary add %state, %0 : !graph.tensor<[b], f32>
    graph.yield %1 : !graph.tensor<[b], f32>
  } -> !graph.tensor<[b], f32>
  return %last : !graph.tensor<[b], f32>
}

// A product of slices within an inner scan leaves both.
// CHECK-LABEL: func.func @nested
// CHECK-SAME:    graph.scan_products = 2
// CHECK:         graph.contract %arg0, %arg2 batch [] x [] contract [3] x [0] : <[t, s, b, 4], f32>, <[4, 8], f32>
// CHECK:         graph.scan carry
// CHECK-NOT:     graph.contract
func.func @nested(%x: !graph.tensor<[t, s, b, 4], f32>, %h: !h, %w: !w) -> !h {
  %last = graph.scan carry %h : !h over %x : !graph.tensor<[t, s, b, 4], f32> {
  ^bb0(%outer: !h, %rows: !graph.tensor<[s, b, 4], f32>):
    %inner = graph.scan carry %outer : !h over %rows : !graph.tensor<[s, b, 4], f32> {
    ^bb0(%state: !h, %slice: !slice):
      %0 = graph.contract %slice, %w batch [] x [] contract [1] x [0] : !slice, !w
      %1 = graph.binary add %state, %0 : !h
      graph.yield %1 : !h
    } -> !h
    graph.yield %inner : !h
  } -> !h
  return %last : !h
}

// What is computed again stays in its iteration.
// CHECK-LABEL: func.func @again
// CHECK-NOT:     graph.scan_products
// CHECK:         graph.scan carry %arg1 : !graph.tensor<[b, 8], f32> over %arg0 : !graph.tensor<[t, b, 4], f32>
// CHECK:           graph.contract
func.func @again(%x: !x, %h: !h, %w: !w) -> !h attributes {graph.recompute = {policy = "blocks", losses = array<i64: 0>}} {
  %last = graph.scan carry %h : !h over %x : !x {
  ^bb0(%state: !h, %slice: !slice):
    %0 = graph.contract %slice, %w batch [] x [] contract [1] x [0] : !slice, !w
    %1 = graph.binary add %state, %0 : !h
    graph.yield %1 : !h
  } -> !h
  return %last : !h
}
