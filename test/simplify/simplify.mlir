// RUN: freestone-opt %s -graph-simplify | FileCheck %s

// Common subexpressions are merged, constants folded, and composites kept.
// CHECK-LABEL: func.func @main
// CHECK: graph.constant dense<5.000000e-01>
// CHECK-NEXT: graph.binary mul
// CHECK-NEXT: graph.softmax
// CHECK-NEXT: graph.binary add
// CHECK-NEXT: return
func.func @main(%x: !graph.tensor<[m, n], f32>) -> !graph.tensor<[m, n], f32> {
  %4 = graph.constant dense<4.0> : tensor<f32> -> !graph.tensor<[m, n], f32>
  %half = graph.unary rsqrt %4 : !graph.tensor<[m, n], f32>
  %a = graph.binary mul %x, %half : !graph.tensor<[m, n], f32>
  %b = graph.binary mul %x, %half : !graph.tensor<[m, n], f32>
  %s = graph.softmax %a axis 1 : !graph.tensor<[m, n], f32>
  %t = graph.softmax %b axis 1 : !graph.tensor<[m, n], f32>
  %r = graph.binary add %s, %t : !graph.tensor<[m, n], f32>
  return %r : !graph.tensor<[m, n], f32>
}

// What begins with 0.0, as a sum of products does, is never -0.0: no 0.0 is added to it, as a convolution's bias. Other
// numbers may be -0.0.
// CHECK-LABEL: func.func @bias
// CHECK-NOT:     graph.binary
// CHECK:         %[[Y:.*]] = graph.convolve
// CHECK-NEXT:    return %[[Y]]
func.func @bias(%x: !graph.tensor<[n, 4, 8, 8], f32>, %w: !graph.tensor<[6, 4, 3, 3], f32>) -> !graph.tensor<[n, 6, 6, 6], f32> {
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1
       : !graph.tensor<[n, 4, 8, 8], f32>, !graph.tensor<[6, 4, 3, 3], f32>
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[n, 6, 6, 6], f32>
  %b = graph.binary add %y, %zero : !graph.tensor<[n, 6, 6, 6], f32>
  return %b : !graph.tensor<[n, 6, 6, 6], f32>
}

// CHECK-LABEL: func.func @other
// CHECK:         graph.binary add
func.func @other(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[n], f32>
  %b = graph.binary add %x, %zero : !graph.tensor<[n], f32>
  return %b : !graph.tensor<[n], f32>
}
