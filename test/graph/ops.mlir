// RUN: freestone-opt %s | freestone-opt | FileCheck %s

// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: (%{{.*}}: !graph.tensor<[b, 4*s + 1], f32> {graph.name = "x"})
func.func @elementwise(%x: !graph.tensor<[b, s*4 + 1], f32> {graph.name = "x"}) -> (!graph.tensor<[b, 4*s + 1], i8> {graph.name = "y"})
    attributes {graph.symbols = {s = #sym.bounds<[2, 1024], hint 128>}} {
  // CHECK: graph.constant dense<1.000000e+00> : tensor<f32> -> <[b, 4*s + 1], f32>
  %one = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[b, 4*s + 1], f32>
  // CHECK: graph.unary exp %{{.*}} : <[b, 4*s + 1], f32>
  %e = graph.unary exp %x : !graph.tensor<[b, 4*s + 1], f32>
  // CHECK: graph.binary atan2 %{{.*}}, %{{.*}} : <[b, 4*s + 1], f32>{{$}}
  %a = graph.binary atan2 %e, %one : !graph.tensor<[b, 4*s + 1], f32>
  // CHECK: graph.compare lt
  %c = graph.compare lt %a, %e : !graph.tensor<[b, 4*s + 1], f32>
  // CHECK: graph.select %{{.*}}, %{{.*}}, %{{.*}} : <[b, 4*s + 1], i1>, <[b, 4*s + 1], f32>
  %d = graph.select %c, %a, %e : !graph.tensor<[b, 4*s + 1], i1>, !graph.tensor<[b, 4*s + 1], f32>
  // CHECK: graph.cast %{{.*}} to i8 saturate : <[b, 4*s + 1], f32>
  %r = graph.cast %d to i8 saturate : !graph.tensor<[b, 4*s + 1], f32>
  return %r : !graph.tensor<[b, 4*s + 1], i8>
}

// CHECK-LABEL: func.func @shape
func.func @shape(%x: !graph.tensor<[b, s], f32>, %zero: !graph.tensor<[], f32>) -> !graph.tensor<[s, b + 1], f32> {
  // CHECK: graph.slice %{{.*}} starts [0, s - 1] sizes [b, s] steps [1, -1] : <[b, s], f32>
  %r = graph.slice %x starts [0, s - 1] sizes [b, s] steps [1, -1] : !graph.tensor<[b, s], f32>
  // CHECK: graph.pad %{{.*}}, %{{.*}} low [1, 0] high [0, 0] interior [0, 0] : <[b, s], f32>, <[], f32>
  %p = graph.pad %r, %zero low [1, 0] high [0, 0] interior [0, 0] : !graph.tensor<[b, s], f32>, !graph.tensor<[], f32>
  // CHECK: graph.transpose %{{.*}} [1, 0] : <[b + 1, s], f32>
  %t = graph.transpose %p [1, 0] : !graph.tensor<[b + 1, s], f32>
  // CHECK: graph.sizes [b, 2*s]
  %n = graph.sizes [b, s + s]
  // CHECK: graph.sizes [b] scalar
  %m = graph.sizes [b] scalar
  return %t : !graph.tensor<[s, b + 1], f32>
}

// CHECK-LABEL: func.func @deduction
func.func @deduction(%a: !graph.tensor<[b, m, k], f32>, %w: !graph.tensor<[k, n], f32>, %image: !graph.tensor<[b, 3, h, 2*w], f32>,
    %kernel: !graph.tensor<[8, 3, 3, 3], f32>, %i: !graph.tensor<[t], i64>)
    -> (!graph.tensor<[b, m, n], f32>, !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[b, t, k], f32>, !graph.tensor<[b, k], i64>) {
  // CHECK: graph.contract %{{.*}}, %{{.*}} batch [] x [] contract [2] x [0] : <[b, m, k], f32>, <[k, n], f32>
  %c = graph.contract %a, %w batch [] x [] contract [2] x [0] : !graph.tensor<[b, m, k], f32>, !graph.tensor<[k, n], f32>
  %v = graph.convolve %image, %kernel strides [1, 2] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 0] groups 1
       : !graph.tensor<[b, 3, h, 2*w], f32>, !graph.tensor<[8, 3, 3, 3], f32>
  // CHECK: graph.gather %{{.*}}, %{{.*}} axis 1 batch_dims 0
  %g = graph.gather %a, %i axis 1 batch_dims 0 : !graph.tensor<[b, m, k], f32>, !graph.tensor<[t], i64>
  // CHECK: graph.arg_reduce max %{{.*}} axis 1 last
  %r = graph.arg_reduce max %a axis 1 last : !graph.tensor<[b, m, k], f32>
  return %c, %v, %g, %r : !graph.tensor<[b, m, n], f32>, !graph.tensor<[b, 8, h, w], f32>, !graph.tensor<[b, t, k], f32>, !graph.tensor<[b, k], i64>
}

// CHECK-LABEL: func.func @callee
func.func @callee(%x: !graph.tensor<[n, k], f32>) -> !graph.tensor<[2*n, k], f32> {
  %y = graph.concat %x, %x axis 0 : !graph.tensor<[n, k], f32>, !graph.tensor<[n, k], f32>
  return %y : !graph.tensor<[2*n, k], f32>
}

// CHECK-LABEL: func.func @control
func.func @control(%c: !graph.tensor<[], i1>, %x: !graph.tensor<[b*s, 8], f32>) -> !graph.tensor<[r, 8], f32> {
  // CHECK: graph.call @callee(%{{.*}}) : (!graph.tensor<[b*s, 8], f32>) -> !graph.tensor<[2*b*s, 8], f32>
  %y = graph.call @callee(%x) : (!graph.tensor<[b*s, 8], f32>) -> !graph.tensor<[2*b*s, 8], f32>
  // CHECK: graph.if
  %r = graph.if %c {
    graph.yield %x : !graph.tensor<[b*s, 8], f32>
  } else {
    graph.yield %y : !graph.tensor<[2*b*s, 8], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[r, 8], f32>
  return %r : !graph.tensor<[r, 8], f32>
}
