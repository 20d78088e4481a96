// RUN: freestone-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[x:.*]]: !graph.tensor<[m, n], f32>)
// CHECK-NEXT: return %[[x]]
func.func @identities(%x: !graph.tensor<[m, n], f32>) -> !graph.tensor<[m, n], f32> {
  %one = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[m, n], f32>
  %0 = graph.reshape %x : !graph.tensor<[m, n], f32> -> !graph.tensor<[m, n], f32>
  %1 = graph.transpose %0 [0, 1] : !graph.tensor<[m, n], f32>
  %2 = graph.broadcast %1 dims [0, 1] : !graph.tensor<[m, n], f32> -> !graph.tensor<[m, n], f32>
  %3 = graph.cast %2 to f32 : !graph.tensor<[m, n], f32>
  %4 = graph.slice %3 starts [0, 0] sizes [m, n] steps [1, 1] : !graph.tensor<[m, n], f32>
  %5 = graph.binary mul %4, %one : !graph.tensor<[m, n], f32>
  %6 = graph.concat %5 axis 0 : !graph.tensor<[m, n], f32>
  %7 = graph.match_shape %6 : !graph.tensor<[m, n], f32> -> !graph.tensor<[m, n], f32>
  %8 = graph.transpose %7 [1, 0] : !graph.tensor<[m, n], f32>
  %9 = graph.transpose %8 [1, 0] : !graph.tensor<[n, m], f32>
  %10 = graph.reshape %9 : !graph.tensor<[m, n], f32> -> !graph.tensor<[m*n], f32>
  %11 = graph.reshape %10 : !graph.tensor<[m*n], f32> -> !graph.tensor<[m, n], f32>
  return %11 : !graph.tensor<[m, n], f32>
}

// The sum of -0.0 and 0.0 is 0.0, so this addition stays.
// CHECK-LABEL: func.func @negativeZero
// CHECK: graph.binary add
func.func @negativeZero(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[n], f32>
  %0 = graph.binary add %x, %zero : !graph.tensor<[n], f32>
  return %0 : !graph.tensor<[n], f32>
}

// CHECK-LABEL: func.func @nothing
// CHECK: %[[zero:.*]] = graph.constant dense<0>
// CHECK: %[[product:.*]] = graph.binary mul
// CHECK: return %[[zero]], %[[product]]
func.func @nothing(%x: !graph.tensor<[n], i32>, %y: !graph.tensor<[n], f32>)
    -> (!graph.tensor<[n], i32>, !graph.tensor<[n], f32>) {
  %zero = graph.constant dense<0> : tensor<i32> -> !graph.tensor<[n], i32>
  %0 = graph.binary mul %zero, %x : !graph.tensor<[n], i32>
  // Of NaN it would be NaN.
  %real = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[n], f32>
  %1 = graph.binary mul %y, %real : !graph.tensor<[n], f32>
  return %0, %1 : !graph.tensor<[n], i32>, !graph.tensor<[n], f32>
}

// CHECK-LABEL: func.func @narrowing
// CHECK: graph.cast %{{.*}} to f16
// CHECK: graph.cast %{{.*}} to f32
func.func @narrowing(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %0 = graph.cast %x to f16 : !graph.tensor<[n], f32>
  %1 = graph.cast %0 to f32 : !graph.tensor<[n], f16>
  return %1 : !graph.tensor<[n], f32>
}

// CHECK-LABEL: func.func @widening
// CHECK-NOT: graph.cast
func.func @widening(%x: !graph.tensor<[n], f16>) -> !graph.tensor<[n], f16> {
  %0 = graph.cast %x to f32 : !graph.tensor<[n], f16>
  %1 = graph.cast %0 to f16 : !graph.tensor<[n], f32>
  return %1 : !graph.tensor<[n], f16>
}

// CHECK-LABEL: func.func @splats
// CHECK-NEXT: %[[c:.*]] = graph.constant dense<2.000000e+00> : tensor<f32> -> <[n, m], f32>
// CHECK-NEXT: return %[[c]]
func.func @splats() -> !graph.tensor<[n, m], f32> {
  %0 = graph.constant dense<2.0> : tensor<f32> -> !graph.tensor<[], f32>
  %1 = graph.broadcast %0 dims [] : !graph.tensor<[], f32> -> !graph.tensor<[m, n], f32>
  %2 = graph.transpose %1 [1, 0] : !graph.tensor<[m, n], f32>
  return %2 : !graph.tensor<[n, m], f32>
}

// CHECK-LABEL: func.func @sizes
// CHECK-NEXT: graph.constant dense<[2, 12]> : tensor<2xi64> -> <[2], i64>
func.func @sizes() -> !graph.tensor<[2], i64> {
  %0 = graph.sizes [2, 12]
  return %0 : !graph.tensor<[2], i64>
}

// A transpose that moves only sizes of 1 is a reshape, and a reshape that adds them is part of a broadcast.
// CHECK-LABEL: func.func @ones
// CHECK-NEXT: graph.broadcast %{{.*}} dims [1] : <[n], f32> -> <[m, n], f32>
// CHECK-NEXT: return
func.func @ones(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[m, n], f32> {
  %0 = graph.reshape %x : !graph.tensor<[n], f32> -> !graph.tensor<[n, 1], f32>
  %1 = graph.transpose %0 [1, 0] : !graph.tensor<[n, 1], f32>
  %2 = graph.broadcast %1 dims [0, 1] : !graph.tensor<[1, n], f32> -> !graph.tensor<[m, n], f32>
  return %2 : !graph.tensor<[m, n], f32>
}

// CHECK-LABEL: func.func @saturatingThereAndBack
// CHECK: graph.cast %{{.*}} to f8E5M2 saturate
// CHECK-NOT: graph.bitcast
func.func @saturatingThereAndBack(%x: !graph.tensor<[n], f8E5M2>) -> !graph.tensor<[n], f8E5M2> {
  %0 = graph.cast %x to f32 : !graph.tensor<[n], f8E5M2>
  %1 = graph.bitcast %0 to f32 : !graph.tensor<[n], f32>
  %2 = graph.cast %1 to f8E5M2 saturate : !graph.tensor<[n], f32>
  return %2 : !graph.tensor<[n], f8E5M2>
}

// A slice of a slice is one; two reversals are nothing, also where they are of other axes in between.
// CHECK-LABEL: func.func @slicesOfSlices
// CHECK-SAME: (%[[x:.*]]: !graph.tensor<[m, n], f32>
// CHECK-DAG: %[[turned:.*]] = graph.slice %[[x]] starts [0, n - 1] sizes [m, n] steps [1, -1]
// CHECK-DAG: %[[some:.*]] = graph.slice %{{.*}} starts [20] sizes [4] steps [-6]
// CHECK: return %[[x]], %[[turned]], %[[some]]
func.func @slicesOfSlices(%x: !graph.tensor<[m, n], f32>, %y: !graph.tensor<[25], f32>)
    -> (!graph.tensor<[m, n], f32>, !graph.tensor<[m, n], f32>, !graph.tensor<[4], f32>) {
  %0 = graph.slice %x starts [m - 1, n - 1] sizes [m, n] steps [-1, -1] : !graph.tensor<[m, n], f32>
  %1 = graph.slice %0 starts [m - 1, 0] sizes [m, n] steps [-1, 1] : !graph.tensor<[m, n], f32>
  %2 = graph.slice %1 starts [0, n - 1] sizes [m, n] steps [1, -1] : !graph.tensor<[m, n], f32>
  %3 = graph.slice %y starts [2] sizes [10] steps [2] : !graph.tensor<[25], f32>
  %4 = graph.slice %3 starts [9] sizes [4] steps [-3] : !graph.tensor<[10], f32>
  return %2, %1, %4 : !graph.tensor<[m, n], f32>, !graph.tensor<[m, n], f32>, !graph.tensor<[4], f32>
}

// Vectors of indices may be longer than constants of another shape, as which they are no constant.
// CHECK-LABEL: func.func @manyIndices
// CHECK: graph.constant dense<{{.*}}> : tensor<65xi64> -> <[65], i64>
// CHECK: graph.reshape
func.func @manyIndices() -> !graph.tensor<[65, 1], i64> {
  %0 = graph.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64]> : tensor<65xi64> -> !graph.tensor<[65], i64>
  %1 = graph.reshape %0 : !graph.tensor<[65], i64> -> !graph.tensor<[65, 1], i64>
  return %1 : !graph.tensor<[65, 1], i64>
}

// All trailing dimensions are reduced as they lie, before a transposition of them.
// CHECK-LABEL: func.func @reduced_as_they_lie
// CHECK-NEXT: %[[most:.*]] = graph.reduce max %arg0 axes [1, 2, 3]
// CHECK-NEXT: %[[sum:.*]] = graph.reduce add %arg0 axes [0, 1, 2, 3]
// CHECK-NEXT: return %[[most]], %[[sum]]
func.func @reduced_as_they_lie(%x: !graph.tensor<[b, 6, s, 64], f32>) -> (!graph.tensor<[b], f32>, !graph.tensor<[], f32>) {
  %0 = graph.transpose %x [0, 2, 1, 3] : !graph.tensor<[b, 6, s, 64], f32>
  %1 = graph.reshape %0 : !graph.tensor<[b, s, 6, 64], f32> -> !graph.tensor<[b, s, 384], f32>
  %2 = graph.reduce max %1 axes [1, 2] : !graph.tensor<[b, s, 384], f32>
  %3 = graph.reduce add %0 axes [0, 1, 2, 3] : !graph.tensor<[b, s, 6, 64], f32>
  return %2, %3 : !graph.tensor<[b], f32>, !graph.tensor<[], f32>
}

// Not where dimensions that stay are transposed, or merged with others.
// CHECK-LABEL: func.func @rows_of_others
// CHECK: graph.reduce max %{{.*}} axes [2] : <[b, s, 384], f32>
// CHECK: graph.reduce max %{{.*}} axes [1] : <[b*s, 384], f32>
func.func @rows_of_others(%x: !graph.tensor<[b, 6, s, 64], f32>) -> (!graph.tensor<[b, s], f32>, !graph.tensor<[b * s], f32>) {
  %0 = graph.transpose %x [0, 2, 1, 3] : !graph.tensor<[b, 6, s, 64], f32>
  %1 = graph.reshape %0 : !graph.tensor<[b, s, 6, 64], f32> -> !graph.tensor<[b, s, 384], f32>
  %2 = graph.reduce max %1 axes [2] : !graph.tensor<[b, s, 384], f32>
  %3 = graph.reshape %0 : !graph.tensor<[b, s, 6, 64], f32> -> !graph.tensor<[b * s, 384], f32>
  %4 = graph.reduce max %3 axes [1] : !graph.tensor<[b * s, 384], f32>
  return %2, %4 : !graph.tensor<[b, s], f32>, !graph.tensor<[b * s], f32>
}
