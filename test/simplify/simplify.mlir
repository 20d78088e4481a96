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
