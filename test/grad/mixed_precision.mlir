// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-mixed-precision{type=bf16}))' -split-input-file | FileCheck %s
// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-mixed-precision{type=f16},graph-differentiate{wrt=w}))' -split-input-file | FileCheck %s --check-prefix=GRAD

// Bias and activation are narrow like the product; weights are rounded, sums are not; exp is f32.
// CHECK-LABEL: func.func @linear
// CHECK-SAME: %[[x:.*]]: !graph.tensor<[b, 8], f32>
// CHECK: %[[xn:.*]] = graph.cast %[[x]] to bf16
// CHECK: %[[w:.*]] = graph.weight "w" : <[8, n], f32>
// CHECK: %[[wn:.*]] = graph.cast %[[w]] to bf16
// CHECK: %[[bias:.*]] = graph.weight "bias" : <[n], f32>
// CHECK: %[[biasn:.*]] = graph.cast %[[bias]] to bf16
// CHECK: %[[y:.*]] = graph.contract %[[xn]], %[[wn]] {{.*}} : <[b, 8], bf16>, <[8, n], bf16>
// CHECK: %[[spread:.*]] = graph.broadcast %[[biasn]] dims [1] : <[n], bf16> -> <[b, n], bf16>
// CHECK: %[[z:.*]] = graph.binary add %[[y]], %[[spread]] : <[b, n], bf16>
// CHECK: %[[zero:.*]] = graph.constant dense<0.000000e+00> : tensor<bf16>
// CHECK: %[[r:.*]] = graph.binary max %[[z]], %[[zero]] : <[b, n], bf16>
// CHECK: %[[rw:.*]] = graph.cast %[[r]] to f32
// CHECK: graph.unary exp %[[rw]] : <[b, n], f32>
// The gradient of the weight is an f32 product, without a cast.
// GRAD-LABEL: func.func @linear
// GRAD: %[[dw:.*]] = graph.contract {{.*}} as f32 : <[b, 8], f16>, <[b, n], f16>
// GRAD-NEXT: return %{{.*}}, %[[dw]]
func.func @linear(%x: !graph.tensor<[b, 8], f32> {graph.name = "x"}) -> !graph.tensor<[], f32> {
  %w = graph.weight "w" : !graph.tensor<[8, n], f32>
  %bias = graph.weight "bias" : !graph.tensor<[n], f32>
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 8], f32>, !graph.tensor<[8, n], f32>
  %1 = graph.broadcast %bias dims [1] : !graph.tensor<[n], f32> -> !graph.tensor<[b, n], f32>
  %2 = graph.binary add %0, %1 : !graph.tensor<[b, n], f32>
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[b, n], f32>
  %3 = graph.binary max %2, %zero : !graph.tensor<[b, n], f32>
  %4 = graph.unary exp %3 : !graph.tensor<[b, n], f32>
  %5 = graph.reduce add %4 axes [0, 1] : !graph.tensor<[b, n], f32>
  return %5 : !graph.tensor<[], f32>
}

// -----

// Norms and residual sums are f32. Values read only by products are rounded as early as possible without changing
// results: before the activation and the transposition.
// CHECK-LABEL: func.func @residual
// CHECK: graph.layer_norm %{{.*}} : <[s, 8], f32>
// CHECK: %[[scaled:.*]] = graph.binary mul %{{.*}} : <[s, 8], f32>
// CHECK-NEXT: %[[narrow:.*]] = graph.cast %[[scaled]] to bf16
// CHECK: %[[r:.*]] = graph.binary max %[[narrow]], %{{.*}} : <[s, 8], bf16>
// CHECK: %[[t:.*]] = graph.transpose %[[r]] [1, 0] : <[s, 8], bf16>
// CHECK: %[[y:.*]] = graph.contract %{{.*}}, %[[t]] {{.*}} : <[8, 8], bf16>, <[8, s], bf16>
// CHECK: %[[back:.*]] = graph.transpose %[[y]] [1, 0] : <[8, s], bf16>
// CHECK: %[[wide:.*]] = graph.cast %[[back]] to f32
// CHECK: graph.binary add %{{.*}}, %[[wide]] : <[s, 8], f32>
// GRAD-LABEL: func.func @residual
// GRAD: as f32 : <[8, s], f16>, <[8, s], f16>
func.func @residual(%x: !graph.tensor<[s, 8], f32>) -> !graph.tensor<[], f32> {
  %w = graph.weight "w" : !graph.tensor<[8, 8], f32>
  %scale = graph.weight "scale" : !graph.tensor<[8], f32>
  %0 = graph.layer_norm %x axis 1 epsilon 1.0e-5 : !graph.tensor<[s, 8], f32>
  %1 = graph.broadcast %scale dims [1] : !graph.tensor<[8], f32> -> !graph.tensor<[s, 8], f32>
  %2 = graph.binary mul %0, %1 : !graph.tensor<[s, 8], f32>
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[s, 8], f32>
  %3 = graph.binary max %2, %zero : !graph.tensor<[s, 8], f32>
  %4 = graph.transpose %3 [1, 0] : !graph.tensor<[s, 8], f32>
  %5 = graph.contract %w, %4 batch [] x [] contract [1] x [0] : !graph.tensor<[8, 8], f32>, !graph.tensor<[8, s], f32>
  %6 = graph.transpose %5 [1, 0] : !graph.tensor<[8, s], f32>
  %7 = graph.binary add %x, %6 : !graph.tensor<[s, 8], f32>
  %8 = graph.reduce add %7 axes [0, 1] : !graph.tensor<[s, 8], f32>
  return %8 : !graph.tensor<[], f32>
}

// -----

// The lowest number of f32 stays finite; a comparison of narrow numbers gives bools; a region captures the wide value.
// CHECK-LABEL: func.func @mask
// CHECK: graph.constant dense<-3.389530e+38> : tensor<bf16> -> <[s, s], bf16>
// CHECK: graph.softmax %{{.*}} axis 1 : <[s, s], bf16>
// CHECK: graph.if
// CHECK: graph.unary tanh %{{.*}} : <[s, s], f32>
// GRAD-LABEL: func.func @mask
// GRAD: as f32 : <[s, s], f16>, <[s, 8], f16>
func.func @mask(%x: !graph.tensor<[s, 8], f32>, %c: !graph.tensor<[], i1>, %m: !graph.tensor<[s, s], i1>) -> !graph.tensor<[], f32> {
  %w = graph.weight "w" : !graph.tensor<[s, 8], f32>
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [1] : !graph.tensor<[s, 8], f32>, !graph.tensor<[s, 8], f32>
  %low = graph.constant dense<-3.40282347E+38> : tensor<f32> -> !graph.tensor<[s, s], f32>
  %1 = graph.select %m, %0, %low : !graph.tensor<[s, s], i1>, !graph.tensor<[s, s], f32>
  %2 = graph.softmax %1 axis 1 : !graph.tensor<[s, s], f32>
  %3 = graph.if %c {
    %5 = graph.unary tanh %2 : !graph.tensor<[s, s], f32>
    graph.yield %5 : !graph.tensor<[s, s], f32>
  } else {
    graph.yield %2 : !graph.tensor<[s, s], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[s, s], f32>
  %4 = graph.reduce add %3 axes [0, 1] : !graph.tensor<[s, s], f32>
  return %4 : !graph.tensor<[], f32>
}
