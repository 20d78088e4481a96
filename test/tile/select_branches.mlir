// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(tile-select-branches{target=x86-64-v4}))' | FileCheck %s

// CHECK-LABEL: @short
// CHECK-SAME: selected_branches = 2
// CHECK-NOT: graph.if
// CHECK: %[[N:.*]] = graph.unary neg %arg1
// CHECK: graph.select %{{.*}}, %arg1, %[[N]]
func.func @short(%c: !graph.tensor<[], i1>, %x: !graph.tensor<[4], f32>) -> (!graph.tensor<[4], f32>, !graph.tensor<[4], f32>) {
  %y:2 = graph.if %c {
    graph.yield %x, %x : !graph.tensor<[4], f32>, !graph.tensor<[4], f32>
  } else {
    %n = graph.unary neg %x : !graph.tensor<[4], f32>
    %z = graph.if %c {
      graph.yield %n : !graph.tensor<[4], f32>
    } else {
      %s = graph.binary add %n, %x : !graph.tensor<[4], f32>
      graph.yield %s : !graph.tensor<[4], f32>
    } : !graph.tensor<[], i1> -> !graph.tensor<[4], f32>
    graph.yield %n, %z : !graph.tensor<[4], f32>, !graph.tensor<[4], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[4], f32>, !graph.tensor<[4], f32>
  return %y#0, %y#1 : !graph.tensor<[4], f32>, !graph.tensor<[4], f32>
}

// A size without a limit; one with a limit is short or not by that.
// CHECK-LABEL: @sizes
// CHECK-SAME: selected_branches = 1
// CHECK: graph.if
// CHECK: graph.if
// CHECK: graph.select
func.func @sizes(%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f32>, %y: !graph.tensor<[m], f32>, %z: !graph.tensor<[k], f32>)
    -> (!graph.tensor<[n], f32>, !graph.tensor<[m], f32>, !graph.tensor<[k], f32>)
    attributes {graph.symbols = {m = #sym.bounds<[1, 100000]>, k = #sym.bounds<[1, 8]>}} {
  %a = graph.if %c {
    graph.yield %x : !graph.tensor<[n], f32>
  } else {
    %e = graph.unary neg %x : !graph.tensor<[n], f32>
    graph.yield %e : !graph.tensor<[n], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[n], f32>
  %b = graph.if %c {
    graph.yield %y : !graph.tensor<[m], f32>
  } else {
    %e = graph.unary neg %y : !graph.tensor<[m], f32>
    graph.yield %e : !graph.tensor<[m], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[m], f32>
  %d = graph.if %c {
    graph.yield %z : !graph.tensor<[k], f32>
  } else {
    %e = graph.unary neg %z : !graph.tensor<[k], f32>
    graph.yield %e : !graph.tensor<[k], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[k], f32>
  return %a, %b, %d : !graph.tensor<[n], f32>, !graph.tensor<[m], f32>, !graph.tensor<[k], f32>
}

// Indices of a side that is not taken may be out of range, its random numbers are none, and its product takes long.
// CHECK-LABEL: @harmful
// CHECK-NOT: graph.select
func.func @harmful(%c: !graph.tensor<[], i1>, %x: !graph.tensor<[4], f32>, %i: !graph.tensor<[4], i64>, %k: !graph.tensor<[4], ui32>)
    -> (!graph.tensor<[4], f32>, !graph.tensor<[4], f32>, !graph.tensor<[4], ui32>) {
  %a = graph.if %c {
    graph.yield %x : !graph.tensor<[4], f32>
  } else {
    %e = graph.gather %x, %i axis 0 batch_dims 0 : !graph.tensor<[4], f32>, !graph.tensor<[4], i64>
    graph.yield %e : !graph.tensor<[4], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[4], f32>
  %b = graph.if %c {
    graph.yield %x : !graph.tensor<[4], f32>
  } else {
    %p = graph.contract %x, %x batch [] x [] contract [0] x [0] : !graph.tensor<[4], f32>, !graph.tensor<[4], f32>
    %e = graph.broadcast %p dims [] : !graph.tensor<[], f32> -> !graph.tensor<[4], f32>
    graph.yield %e : !graph.tensor<[4], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[4], f32>
  %d = graph.if %c {
    graph.yield %k : !graph.tensor<[4], ui32>
  } else {
    %r = graph.random_bits %k : !graph.tensor<[4], ui32> -> !graph.tensor<[4], ui32>
    graph.yield %r : !graph.tensor<[4], ui32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[4], ui32>
  return %a, %b, %d : !graph.tensor<[4], f32>, !graph.tensor<[4], f32>, !graph.tensor<[4], ui32>
}

// What branches give may be of other sizes.
// CHECK-LABEL: @other_sizes
// CHECK: graph.if
func.func @other_sizes(%c: !graph.tensor<[], i1>, %x: !graph.tensor<[4], f32>, %y: !graph.tensor<[2], f32>) -> !graph.tensor<[r], f32> {
  %a = graph.if %c {
    graph.yield %x : !graph.tensor<[4], f32>
  } else {
    graph.yield %y : !graph.tensor<[2], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[r], f32>
  return %a : !graph.tensor<[r], f32>
}
