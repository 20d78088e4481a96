// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-multiply-integers),graph-simplify)' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-multiply-integers{enable=false}))' | FileCheck %s --check-prefix=OFF

!x = !graph.tensor<[b, 64], ui8>
!w = !graph.tensor<[64, 8], i8>
!f = !graph.tensor<[b, 64], f32>
!g = !graph.tensor<[64, 8], f32>
!y = !graph.tensor<[b, 8], f32>

// The zero point is subtracted once for each column; a scale for each column stays one.
// CHECK-LABEL: func.func @columns
// CHECK-SAME:    graph.integer_products = 1
// CHECK-DAG:     %[[SUMS:.*]] = graph.contract %arg0, %arg1 batch [] x [] contract [1] x [0] as i32
// CHECK-DAG:     %[[WIDE:.*]] = graph.cast %arg1 to i32
// CHECK-DAG:     graph.reduce add %[[WIDE]] axes [0]
// CHECK-DAG:     graph.constant dense<7>
// CHECK:         %[[CENTERED:.*]] = graph.binary sub %[[SUMS]], %{{.*}} : <[b, 8], i32>
// CHECK:         %[[REAL:.*]] = graph.cast %[[CENTERED]] to f32
// CHECK:         graph.binary mul %[[REAL]]
// OFF-LABEL: func.func @columns
// OFF-NOT:     graph.integer_products
// OFF:         graph.contract {{.*}} : <[b, 64], f32>, <[64, 8], f32>
func.func @columns(%x: !x, %w: !w, %t: !graph.tensor<[8], f32>) -> !y {
  %z = graph.constant dense<7.0> : tensor<f32> -> !f
  %s = graph.constant dense<0.5> : tensor<f32> -> !f
  %0 = graph.cast %x to f32 : !x
  %1 = graph.binary sub %0, %z : !f
  %2 = graph.binary mul %1, %s : !f
  %3 = graph.cast %w to f32 : !w
  %4 = graph.broadcast %t dims [1] : !graph.tensor<[8], f32> -> !g
  %5 = graph.binary mul %4, %3 : !g
  %6 = graph.contract %2, %5 batch [] x [] contract [1] x [0] : !f, !g
  return %6 : !y
}

// -----

!x = !graph.tensor<[b, 64], ui8>
!w = !graph.tensor<[64, 8], i8>
!f = !graph.tensor<[b, 64], f32>
!g = !graph.tensor<[64, 8], f32>
!y = !graph.tensor<[b, 8], f32>

// A scale that varies along the sum, a zero point that is no integer, and f32 on one side.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     as i32
func.func @others(%x: !x, %w: !w, %t: !graph.tensor<[64], f32>, %v: !g) -> (!y, !y, !y) {
  %z = graph.constant dense<7.5> : tensor<f32> -> !f
  %0 = graph.cast %x to f32 : !x
  %1 = graph.cast %w to f32 : !w
  %2 = graph.broadcast %t dims [0] : !graph.tensor<[64], f32> -> !g
  %3 = graph.binary mul %1, %2 : !g
  %4 = graph.contract %0, %3 batch [] x [] contract [1] x [0] : !f, !g
  %5 = graph.binary sub %0, %z : !f
  %6 = graph.contract %5, %1 batch [] x [] contract [1] x [0] : !f, !g
  %7 = graph.contract %0, %v batch [] x [] contract [1] x [0] : !f, !g
  return %4, %6, %7 : !y, !y, !y
}

// -----

!q = !graph.tensor<[b, s, t], ui8>
!p = !graph.tensor<[b, s, t], f32>
!y = !graph.tensor<[b, s, s], f32>

// Sums of unknown length could leave i32; those up to a limit can't. A transposition takes the integers.
// CHECK-LABEL: func.func @lengths
// CHECK:         graph.contract {{.*}} : <[b, s, t], f32>, <[b, s, t], f32>
// CHECK:         %[[MOVED:.*]] = graph.transpose %{{.*}} [0, 2, 1] : <[b, s, t], ui8>
// CHECK:         graph.contract %[[MOVED]], %{{.*}} batch [0] x [0] contract [2] x [1] as i32
func.func @lengths(%x: !q, %w: !q) -> (!y, !graph.tensor<[b, t, t], f32>)
    attributes {graph.symbols = {b = #sym.bounds<[1, 8]>, s = #sym.bounds<[1, 512]>}} {
  %0 = graph.cast %x to f32 : !q
  %1 = graph.cast %w to f32 : !q
  %2 = graph.contract %0, %1 batch [0] x [0] contract [2] x [2] : !p, !p
  %3 = graph.transpose %0 [0, 2, 1] : !p
  %4 = graph.contract %3, %1 batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, t, s], f32>, !p
  return %2, %4 : !y, !graph.tensor<[b, t, t], f32>
}

// -----

!x = !graph.tensor<[n, 3, h, w], ui8>
!w = !graph.tensor<[8, 3, 3, 3], i8>
!f = !graph.tensor<[n, 3, h, w], f32>
!g = !graph.tensor<[8, 3, 3, 3], f32>

// Beyond the edges there is the zero point.
// CHECK-LABEL: func.func @convolution
// CHECK-DAG:     %[[ZERO:.*]] = graph.constant dense<117> : tensor<ui8> -> <[], ui8>
// CHECK-DAG:     %[[PADDED:.*]] = graph.pad %arg0, %[[ZERO]] low [0, 0, 1, 1] high [0, 0, 1, 1]
// CHECK-DAG:     graph.convolve %[[PADDED]], %arg1 strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1 as i32
func.func @convolution(%x: !x, %w: !w) -> !graph.tensor<[n, 8, h, w], f32> {
  %z = graph.constant dense<117.0> : tensor<f32> -> !f
  %s = graph.constant dense<0.5> : tensor<f32> -> !g
  %0 = graph.cast %x to f32 : !x
  %1 = graph.binary sub %0, %z : !f
  %2 = graph.cast %w to f32 : !w
  %3 = graph.binary mul %2, %s : !g
  %4 = graph.convolve %1, %3 strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !f, !g
  return %4 : !graph.tensor<[n, 8, h, w], f32>
}

// -----

!x = !graph.tensor<[n, 16, h, w], ui8>
!w = !graph.tensor<[16, 1, 3, 3], i8>
!f = !graph.tensor<[n, 16, h, w], f32>
!g = !graph.tensor<[16, 1, 3, 3], f32>

// Channels by themselves are summed in f32, from the bytes. Groups of several channels stay as they are.
// CHECK-LABEL: func.func @channels
// CHECK-SAME:    graph.integer_products = 1
// CHECK-DAG:     %[[SUMS:.*]] = graph.convolve %arg0, %arg1 strides [2, 2] {{.*}} low [1, 1] high [1, 1] groups 16 as f32
// CHECK-DAG:     graph.binary mul %[[SUMS]]
// CHECK-DAG:     graph.convolve {{.*}} groups 2 : <[n, 16, h, w], f32>
// OFF-LABEL: func.func @channels
// OFF-NOT:     as f32
func.func @channels(%x: !x, %w: !w, %t: !graph.tensor<[16], f32>, %v: !graph.tensor<[4, 8, 3, 3], i8>)
    -> (!graph.tensor<[n, 16, (h - 1) floordiv 2 + 1, (w - 1) floordiv 2 + 1], f32>, !graph.tensor<[n, 4, h, w], f32>) {
  %s = graph.constant dense<0.5> : tensor<f32> -> !f
  %0 = graph.cast %x to f32 : !x
  %1 = graph.binary mul %0, %s : !f
  %2 = graph.cast %w to f32 : !w
  %3 = graph.broadcast %t dims [0] : !graph.tensor<[16], f32> -> !g
  %4 = graph.binary mul %2, %3 : !g
  %5 = graph.convolve %1, %4 strides [2, 2] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 16 : !f, !g
  %6 = graph.cast %v to f32 : !graph.tensor<[4, 8, 3, 3], i8>
  %7 = graph.convolve %1, %6 strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 2 : !f, !graph.tensor<[4, 8, 3, 3], f32>
  return %5, %7 : !graph.tensor<[n, 16, (h - 1) floordiv 2 + 1, (w - 1) floordiv 2 + 1], f32>, !graph.tensor<[n, 4, h, w], f32>
}

// -----

!x = !graph.tensor<[n, 16, 8, 8], ui8>
!f = !graph.tensor<[n, 16, 8, 8], f32>
!p = !graph.tensor<[n, 16, 4, 4], f32>
!q = !graph.tensor<[n, 16, 4, 4], ui8>

// A maximum of dequantised numbers that is quantised as they were is one of the integers.
// CHECK-LABEL: func.func @pooled
// CHECK-NEXT:    %[[POOLED:.*]] = graph.window max %arg0 sizes [2, 2] {{.*}} : <[n, 16, 8, 8], ui8>
// CHECK-NEXT:    return %[[POOLED]]
// OFF-LABEL: func.func @pooled
// OFF:         graph.window max {{.*}} f32>
func.func @pooled(%x: !x) -> !q {
  %z = graph.constant dense<3.0> : tensor<f32> -> !f
  %s = graph.constant dense<0.5> : tensor<f32> -> !f
  %z1 = graph.constant dense<3.0> : tensor<f32> -> !p
  %s1 = graph.constant dense<0.5> : tensor<f32> -> !p
  %0 = graph.cast %x to f32 : !x
  %1 = graph.binary sub %0, %z : !f
  %2 = graph.binary mul %1, %s : !f
  %3 = graph.window max %2 sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : !f
  %4 = graph.binary div %3, %s1 : !p
  %5 = graph.unary round %4 : !p
  %6 = graph.binary add %5, %z1 : !p
  %7 = graph.cast %6 to ui8 saturate : !p
  return %7 : !q
}

// -----

!x = !graph.tensor<[n, 16, 8, 8], ui8>
!f = !graph.tensor<[n, 16, 8, 8], f32>
!p = !graph.tensor<[n, 16, 4, 4], f32>
!q = !graph.tensor<[n, 16, 4, 4], ui8>

// Another scale quantises anew; with a negative one the greatest number is that of the least integer.
// CHECK-LABEL: func.func @requantised
// CHECK:         graph.window max %arg0 {{.*}} ui8>
// CHECK:         graph.binary div
// CHECK:         graph.window max {{.*}} : <[n, 16, 8, 8], f32>
func.func @requantised(%x: !x) -> (!q, !p) {
  %s = graph.constant dense<0.5> : tensor<f32> -> !f
  %s1 = graph.constant dense<0.25> : tensor<f32> -> !p
  %t = graph.constant dense<-0.5> : tensor<f32> -> !f
  %0 = graph.cast %x to f32 : !x
  %1 = graph.binary mul %0, %s : !f
  %2 = graph.window max %1 sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : !f
  %3 = graph.binary div %2, %s1 : !p
  %4 = graph.unary round %3 : !p
  %5 = graph.cast %4 to ui8 saturate : !p
  %6 = graph.binary mul %0, %t : !f
  %7 = graph.window max %6 sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : !f
  return %5, %7 : !q, !p
}

// -----

!x = !graph.tensor<[n, 1, h, w], ui8>
!w = !graph.tensor<[8, 1, 3, 3], i8>
!f = !graph.tensor<[n, 1, h, w], f32>
!g = !graph.tensor<[8, 1, 3, 3], f32>
!y = !graph.tensor<[n, 8, h, w], f32>

// Few products stay in f32. What is quantised behind a product is multiplied by the reciprocal, other numbers are divided.
// CHECK-LABEL: func.func @shallow
// CHECK-NOT:     graph.integer_products
// CHECK-DAG:     %[[RECIPROCAL:.*]] = graph.constant dense<4.000000e+00>
// CHECK-DAG:     %[[SUMS:.*]] = graph.convolve {{.*}} : <[n, 1, h, w], f32>
// CHECK-DAG:     graph.binary mul %[[SUMS]], %[[RECIPROCAL]]
// CHECK-DAG:     graph.binary div %arg2
func.func @shallow(%x: !x, %w: !w, %z: !y) -> (!graph.tensor<[n, 8, h, w], ui8>, !graph.tensor<[n, 8, h, w], ui8>) {
  %s = graph.constant dense<0.25> : tensor<f32> -> !y
  %0 = graph.cast %x to f32 : !x
  %1 = graph.cast %w to f32 : !w
  %2 = graph.convolve %0, %1 strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1 : !f, !g
  %3 = graph.binary div %2, %s : !y
  %4 = graph.unary round %3 : !y
  %5 = graph.cast %4 to ui8 saturate : !y
  %6 = graph.binary div %z, %s : !y
  %7 = graph.unary round %6 : !y
  %8 = graph.cast %7 to ui8 saturate : !y
  return %5, %8 : !graph.tensor<[n, 8, h, w], ui8>, !graph.tensor<[n, 8, h, w], ui8>
}
