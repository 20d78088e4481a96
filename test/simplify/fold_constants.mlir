// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-fold-constants,canonicalize))' | FileCheck %s

// 1 / sqrt(64), the scale of attention as exporters write it.
// CHECK-LABEL: func.func @scale
// CHECK-NEXT: %[[c:.*]] = graph.constant dense<1.250000e-01> : tensor<f32> -> <[b, h], f32>
// CHECK-NEXT: graph.binary mul %{{.*}}, %[[c]]
func.func @scale(%x: !graph.tensor<[b, h], f32>) -> !graph.tensor<[b, h], f32> {
  %0 = graph.constant dense<64> : tensor<i64> -> !graph.tensor<[b, h], i64>
  %1 = graph.cast %0 to f32 : !graph.tensor<[b, h], i64>
  %2 = graph.unary sqrt %1 : !graph.tensor<[b, h], f32>
  %3 = graph.unary reciprocal %2 : !graph.tensor<[b, h], f32>
  %4 = graph.binary mul %x, %3 : !graph.tensor<[b, h], f32>
  return %4 : !graph.tensor<[b, h], f32>
}

// Every result is rounded to its type: 1 + 2^-24 is 1 in f32.
// CHECK-LABEL: func.func @rounded
// CHECK-NEXT: graph.constant dense<0.000000e+00> : tensor<f32>
func.func @rounded() -> !graph.tensor<[], f32> {
  %0 = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[], f32>
  %1 = graph.constant dense<0x33800000> : tensor<f32> -> !graph.tensor<[], f32>
  %2 = graph.binary add %0, %1 : !graph.tensor<[], f32>
  %3 = graph.binary sub %2, %0 : !graph.tensor<[], f32>
  return %3 : !graph.tensor<[], f32>
}

// CHECK-LABEL: func.func @gather
// CHECK-NEXT: graph.constant dense<[true, false]> : tensor<2xi1> -> <[2], i1>
func.func @gather() -> !graph.tensor<[2], i1> {
  %0 = graph.constant dense<[5, 6, 7]> : tensor<3xi64> -> !graph.tensor<[3], i64>
  %1 = graph.constant dense<[2, 0]> : tensor<2xi64> -> !graph.tensor<[2], i64>
  %2 = graph.constant dense<6> : tensor<i64> -> !graph.tensor<[2], i64>
  %3 = graph.gather %0, %1 axis 0 batch_dims 0 : !graph.tensor<[3], i64>, !graph.tensor<[2], i64>
  %4 = graph.compare gt %3, %2 : !graph.tensor<[2], i64>
  return %4 : !graph.tensor<[2], i1>
}

// An operator that would fail is kept, and fails at run time.
// CHECK-LABEL: func.func @outOfRange
// CHECK: graph.gather
func.func @outOfRange() -> !graph.tensor<[], i64> {
  %0 = graph.constant dense<[5, 6, 7]> : tensor<3xi64> -> !graph.tensor<[3], i64>
  %1 = graph.constant dense<3> : tensor<i64> -> !graph.tensor<[], i64>
  %2 = graph.gather %0, %1 axis 0 batch_dims 0 : !graph.tensor<[3], i64>, !graph.tensor<[], i64>
  return %2 : !graph.tensor<[], i64>
}

// More than 64 elements are not folded, nor are barriers.
// CHECK-LABEL: func.func @kept
// CHECK: graph.barrier
// CHECK: graph.cumulate
func.func @kept() -> (!graph.tensor<[], f32>, !graph.tensor<[65], f32>) {
  %0 = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[], f32>
  %1 = graph.barrier %0 : !graph.tensor<[], f32>
  %2 = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[65], f32>
  %3 = graph.cumulate add %2 axis 0 : !graph.tensor<[65], f32>
  return %1, %3 : !graph.tensor<[], f32>, !graph.tensor<[65], f32>
}
