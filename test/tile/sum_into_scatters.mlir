// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-sum-into-scatters))' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-sum-into-scatters{enable=false}))' | FileCheck %s --check-prefix=OFF

!t = !graph.tensor<[v, 8], f32>
!i = !graph.tensor<[n, 1], i64>
!u = !graph.tensor<[n, 8], f32>

// Whichever operand the sum of the updates is, and wherever the other one is computed.
// CHECK-LABEL: func.func @sums
// CHECK:         %[[EXP:.*]] = graph.unary exp
// CHECK-NEXT:    %[[ONE:.*]] = graph.scatter_nd add %[[EXP]], %arg1, %arg2
// CHECK-NEXT:    %[[OTHER:.*]] = graph.scatter_elements add %[[ONE]], %arg3, %arg2 axis 0
// CHECK-NEXT:    return %[[OTHER]]
// OFF-LABEL:   func.func @sums
// OFF-COUNT-2:   graph.binary add
func.func @sums(%x: !t, %i: !i, %u: !u, %j: !graph.tensor<[n, 8], i64>) -> !t {
  %zeros = graph.constant dense<0.0> : tensor<f32> -> !t
  %0 = graph.scatter_nd add %zeros, %i, %u : !t, !i, !u
  %1 = graph.scatter_elements add %zeros, %j, %u axis 0 : !t, !graph.tensor<[n, 8], i64>, !u
  %2 = graph.unary exp %x : !t
  %3 = graph.binary add %2, %0 : !t
  %4 = graph.binary add %1, %3 : !t
  return %4 : !t
}

// -----

!t = !graph.tensor<[v, 8], f32>
!h = !graph.tensor<[v, 8], f16>
!i = !graph.tensor<[n, 1], i64>
!u = !graph.tensor<[n, 8], f32>
!w = !graph.tensor<[n, 8], f16>

// What is read elsewhere, replaces, adds to something else, or is summed in f16 stays.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: graph.binary add
func.func @others(%x: !t, %i: !i, %u: !u, %w: !w, %y: !h) -> (!t, !t, !t, !t, !h) {
  %zeros = graph.constant dense<0.0> : tensor<f32> -> !t
  %ones = graph.constant dense<1.0> : tensor<f32> -> !t
  %narrow = graph.constant dense<0.0> : tensor<f16> -> !h
  %0 = graph.scatter_nd add %zeros, %i, %u : !t, !i, !u
  %1 = graph.scatter_nd none %zeros, %i, %u : !t, !i, !u
  %2 = graph.scatter_nd add %ones, %i, %u : !t, !i, !u
  %3 = graph.scatter_nd add %narrow, %i, %w : !h, !i, !w
  %4 = graph.binary add %x, %0 : !t
  %5 = graph.binary add %x, %1 : !t
  %6 = graph.binary add %x, %2 : !t
  %7 = graph.binary add %y, %3 : !h
  return %0, %4, %5, %6, %7 : !t, !t, !t, !t, !h
}
