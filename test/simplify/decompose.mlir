// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-decompose))' | FileCheck %s
// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-decompose{keep=graph.softmax}))' | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: %[[max:.*]] = graph.reduce max %[[x:.*]] axes [1] {graph.share} : <[m, n], f32>
// CHECK-NEXT: %[[most:.*]] = graph.broadcast %[[max]] dims [0] : <[m], f32> -> <[m, n], f32>
// CHECK-NEXT: %[[shifted:.*]] = graph.binary sub %[[x]], %[[most]]
// CHECK-NEXT: %[[power:.*]] = graph.unary exp %[[shifted]] {graph.share}
// CHECK-NEXT: %[[sum:.*]] = graph.reduce add %[[power]] axes [1]
// CHECK-NEXT: %[[share:.*]] = graph.unary reciprocal %[[sum]]
// CHECK-NEXT: %[[all:.*]] = graph.broadcast %[[share]] dims [0]
// CHECK-NEXT: %[[y:.*]] = graph.binary mul %[[power]], %[[all]]
// CHECK-NEXT: return %[[y]]
// KEEP-LABEL: func.func @softmax
// KEEP-NEXT: graph.softmax
func.func @softmax(%x: !graph.tensor<[m, n], f32>) -> !graph.tensor<[m, n], f32> {
  %y = graph.softmax %x axis 1 : !graph.tensor<[m, n], f32>
  return %y : !graph.tensor<[m, n], f32>
}

// Narrow floats are computed in f32, and a mean over a symbolic size divides by that size.
// CHECK-LABEL: func.func @narrow
// CHECK: graph.cast %{{.*}} to f32 : <[m, n], bf16>
// CHECK: graph.sizes [n] scalar
// CHECK: graph.unary rsqrt
// CHECK: graph.cast %{{.*}} to bf16 : <[m, n], f32>
// KEEP-LABEL: func.func @narrow
// KEEP-NOT: graph.layer_norm
func.func @narrow(%x: !graph.tensor<[m, n], bf16>) -> !graph.tensor<[m, n], bf16> {
  %y = graph.layer_norm %x axis 1 epsilon 1.0e-5 : !graph.tensor<[m, n], bf16>
  return %y : !graph.tensor<[m, n], bf16>
}
