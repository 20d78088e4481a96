// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-keep-scan-values))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-keep-scan-values{enable=false}))' | FileCheck %s --check-prefix=OFF

!x = !graph.tensor<[t, b, 8], f32>
!h = !graph.tensor<[b, 8], f32>
!w = !graph.tensor<[8, 8], f32>

// The tanh is kept in place of the sum that it was computed again of; what is collected twice, or only passes by, is not.
// CHECK-LABEL: func.func @cell
// CHECK-SAME:    graph.kept_values = 1
// CHECK:         %[[ALL:.*]]:3 = graph.scan carry %arg1 : !graph.tensor<[b, 8], f32> over %arg0
// CHECK:           %[[TANH:.*]] = graph.unary tanh
// CHECK:           graph.yield %[[TANH]], %[[STATE:.*]], %[[TANH]]
// CHECK-DAG:     %[[BEFORE:.*]] = graph.slice %[[ALL]]#1 starts [t - 1, 0, 0]
// CHECK-DAG:     %[[KEPT:.*]] = graph.slice %[[ALL]]#2 starts [t - 1, 0, 0] sizes [t, b, 8] steps [-1, 1, 1]
// CHECK:         %[[BACK:.*]]:2 = graph.scan carry %arg3 : !graph.tensor<[b, 8], f32> over %[[KEPT]] : !graph.tensor<[t, b, 8], f32>
// CHECK-NEXT:    ^bb0(%[[G:.*]]: !graph.tensor<[b, 8], f32>, %[[Y:.*]]: !graph.tensor<[b, 8], f32>):
// CHECK-NOT:       tanh
// CHECK:           graph.yield
// CHECK:         graph.contract %[[BEFORE]], %[[BACK]]#1
// OFF-LABEL: func.func @cell
// OFF-NOT:     graph.kept_values
// OFF:         graph.unary tanh
// OFF:         graph.unary tanh
func.func @cell(%x: !x, %h: !h, %w: !w, %g: !h) -> (!h, !w) {
  %one = graph.constant dense<1.0> : tensor<f32> -> <[b, 8], f32>
  %all:3 = graph.scan carry %h : !h over %x : !x {
  ^bb0(%state: !h, %slice: !h):
    %0 = graph.contract %state, %w batch [] x [] contract [1] x [0] : !h, !w
    %1 = graph.binary add %0, %slice : !h
    %2 = graph.unary tanh %1 : !h
    graph.yield %2, %state, %1 : !h, !h, !h
  } -> !h, !x, !x
  %before = graph.slice %all#1 starts [t - 1, 0, 0] sizes [t, b, 8] steps [-1, 1, 1] : <[t, b, 8], f32>
  %sums = graph.slice %all#2 starts [t - 1, 0, 0] sizes [t, b, 8] steps [-1, 1, 1] : <[t, b, 8], f32>
  %back:4 = graph.scan carry %g : !h over %before, %sums : !x, !x {
  ^bb0(%gradient: !h, %state: !h, %sum: !h):
    %0 = graph.unary tanh %sum : !h
    %1 = graph.binary mul %0, %0 : !h
    %2 = graph.binary sub %one, %1 : !h
    %3 = graph.binary mul %gradient, %2 : !h
    %4 = graph.contract %3, %w batch [] x [] contract [1] x [1] : !h, !w
    graph.yield %4, %state, %3, %3 : !h, !h, !h, !h
  } -> !h, !x, !x, !x
  %dw = graph.contract %back#1, %back#3 batch [] x [] contract [0, 1] x [0, 1] : !x, !x
  return %back#0, %dw : !h, !w
}

// A sum is cheaper to compute again than to keep; and a request to compute again is followed.
// CHECK-LABEL: func.func @sum
// CHECK-NOT:     graph.kept_values
// What only passes by is not collected then either: sums along it have the same bits.
// CHECK-LABEL: func.func @requested
// CHECK-NOT:     graph.kept_values
// CHECK:         %[[TURNED:.*]] = graph.slice %arg0 starts [t - 1, 0, 0]
// CHECK:         graph.scan carry %arg1 : !graph.tensor<[b, 8], f32> over %[[TURNED]]
// CHECK:           graph.yield %{{[^,]*}} : !graph.tensor<[b, 8], f32>
// CHECK:         graph.reduce add %[[TURNED]]
func.func @sum(%x: !x, %h: !h) -> !h {
  %all:2 = graph.scan carry %h : !h over %x : !x {
  ^bb0(%state: !h, %slice: !h):
    %0 = graph.binary add %state, %slice : !h
    graph.yield %0, %state : !h, !h
  } -> !h, !x
  %before = graph.slice %all#1 starts [t - 1, 0, 0] sizes [t, b, 8] steps [-1, 1, 1] : <[t, b, 8], f32>
  %turned = graph.slice %x starts [t - 1, 0, 0] sizes [t, b, 8] steps [-1, 1, 1] : <[t, b, 8], f32>
  %back = graph.scan carry %h : !h over %before, %turned : !x, !x {
  ^bb0(%gradient: !h, %state: !h, %slice: !h):
    %0 = graph.binary add %state, %slice : !h
    %1 = graph.binary mul %gradient, %0 : !h
    %2 = graph.binary mul %1, %state : !h
    %3 = graph.binary mul %2, %slice : !h
    graph.yield %3 : !h
  } -> !h
  return %back : !h
}
func.func @requested(%x: !x, %h: !h) -> (!h, !h) attributes {graph.recompute = {policy = "blocks", losses = array<i64: 0>}} {
  %all:2 = graph.scan carry %h : !h over %x : !x {
  ^bb0(%state: !h, %slice: !h):
    %0 = graph.unary tanh %slice : !h
    graph.yield %0, %0 : !h, !h
  } -> !h, !x
  %turned = graph.slice %x starts [t - 1, 0, 0] sizes [t, b, 8] steps [-1, 1, 1] : <[t, b, 8], f32>
  %back, %same = graph.scan carry %h : !h over %turned : !x {
  ^bb0(%gradient: !h, %slice: !h):
    %0 = graph.unary tanh %slice : !h
    %1 = graph.binary mul %gradient, %0 : !h
    graph.yield %1, %slice : !h, !h
  } -> !h, !x
  %sum = graph.reduce add %same axes [0] : !x
  return %back, %sum : !h, !h
}

// What only the later one of two scans goes along, which does not use it, isn't computed; nor is one that nobody uses.
// CHECK-LABEL: func.func @unused
// CHECK:         graph.scan carry %arg1 : !graph.tensor<[b, 8], f32> over %arg0 : !graph.tensor<[t, b, 8], f32>
// CHECK-NOT:     graph.scan
// CHECK:         return
func.func @unused(%x: !x, %h: !h) -> !h {
  %first:2 = graph.scan carry %h : !h over %x : !x {
  ^bb0(%state: !h, %slice: !h):
    %0 = graph.binary add %state, %slice : !h
    graph.yield %0, %0 : !h, !h
  } -> !h, !x
  %second:2 = graph.scan carry %h : !h over %x, %first#1 : !x, !x {
  ^bb0(%state: !h, %slice: !h, %other: !h):
    %0 = graph.binary mul %state, %slice : !h
    %1 = graph.unary tanh %other : !h
    graph.yield %0, %1 : !h, !h
  } -> !h, !x
  %third = graph.scan carry %second#0 : !h over %second#1 : !x {
  ^bb0(%state: !h, %slice: !h):
    %0 = graph.binary add %state, %slice : !h
    graph.yield %0 : !h
  } -> !h
  return %second#0 : !h
}

// What a step adds to a sum that starts at 0 is not summed again of all steps, in either order; products of steps,
// other sums and those that start elsewhere are.
// CHECK-LABEL: func.func @sums
// CHECK-SAME:    graph.kept_values = 2
// CHECK:         %[[ALL:.*]]:4 = graph.scan
// CHECK-DAG:     %[[OTHER:.*]] = graph.reduce add %[[ALL]]#3 axes [0, 2]
// CHECK-DAG:     %[[MOST:.*]] = graph.reduce max %[[ALL]]#3 axes [0, 1]
// CHECK:         return %[[ALL]]#1, %[[ALL]]#2, %[[ALL]]#1, %[[OTHER]], %[[MOST]]
// OFF-LABEL: func.func @sums
// OFF-COUNT-3: graph.reduce add %{{.*}} axes [0,
!v = !graph.tensor<[8], f32>
func.func @sums(%x: !x, %h: !h, %start: !v) -> (!v, !v, !v, !graph.tensor<[b], f32>, !v) {
  %zero = graph.constant dense<0.0> : tensor<f32> -> <[8], f32>
  %all:4 = graph.scan carry %h, %zero, %start : !h, !v, !v over %x : !x {
  ^bb0(%state: !h, %sum: !v, %other: !v, %slice: !h):
    %0 = graph.binary mul %state, %slice : !h
    %1 = graph.reduce add %0 axes [0] : !h
    %2 = graph.binary add %1, %sum : !v
    %3 = graph.binary add %1, %other : !v
    graph.yield %0, %2, %3, %0 : !h, !v, !v, !h
  } -> !h, !v, !v, !x
  %back = graph.slice %all#3 starts [t - 1, 0, 0] sizes [t, b, 8] steps [-1, 1, 1] : <[t, b, 8], f32>
  %first = graph.reduce add %back axes [0, 1] : !x
  %second = graph.reduce add %all#3 axes [0, 1] : !x
  %across = graph.reduce add %all#3 axes [0, 2] : !x
  %most = graph.reduce max %all#3 axes [0, 1] : !x
  return %first, %all#2, %second, %across, %most : !v, !v, !v, !graph.tensor<[b], f32>, !v
}
