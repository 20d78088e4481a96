// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-differentiate{wrt=x},graph-rematerialise,cse))' | FileCheck %s

// Of the two values that the gradient reads, tanh is kept, and exp is recomputed behind a barrier; CSE changes nothing.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: attributes {graph.recomputed = {kept_after = 16384 : i64, kept_before = 32768 : i64, values = 1 : i64}}
// CHECK: %[[t:.*]] = graph.unary tanh
// CHECK: graph.unary exp %[[t]]
// CHECK: graph.reduce add
// CHECK: %[[kept:.*]] = graph.barrier %[[t]]
// CHECK: graph.unary exp %[[kept]]
// CHECK: return
func.func @blocks(%x: !graph.tensor<[b, 16], f32> {graph.name = "x"}, %w: !graph.tensor<[16, 64], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "blocks", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 16], f32>, !graph.tensor<[16, 64], f32>
  %1 = graph.unary tanh %0 : !graph.tensor<[b, 64], f32>
  %2 = graph.unary exp %1 : !graph.tensor<[b, 64], f32>
  %3 = graph.reduce add %2 axes [0, 1] : !graph.tensor<[b, 64], f32>
  return %3 : !graph.tensor<[], f32>
}

// Without a policy, nothing is recomputed.
// CHECK-LABEL: func.func @none
// CHECK-NOT: graph.barrier
// CHECK: return
func.func @none(%x: !graph.tensor<[b, 16], f32> {graph.name = "x"}) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "none", losses = array<i64: 0>}} {
  %0 = graph.unary tanh %x : !graph.tensor<[b, 16], f32>
  %1 = graph.unary exp %0 : !graph.tensor<[b, 16], f32>
  %2 = graph.reduce add %1 axes [0, 1] : !graph.tensor<[b, 16], f32>
  return %2 : !graph.tensor<[], f32>
}

// With memory for all values of this many samples, everything is kept.
// CHECK-LABEL: func.func @enough
// CHECK-NOT: graph.barrier
// CHECK: return
func.func @enough(%x: !graph.tensor<[b, 16], f32> {graph.name = "x"}) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "auto:1M", losses = array<i64: 0>, hints = {b = 8 : i64}}} {
  %0 = graph.unary tanh %x : !graph.tensor<[b, 16], f32>
  %1 = graph.unary exp %0 : !graph.tensor<[b, 16], f32>
  %2 = graph.reduce add %1 axes [0, 1] : !graph.tensor<[b, 16], f32>
  return %2 : !graph.tensor<[], f32>
}

// Sums of floats are kept, as another program may add in another order; maxima are exact.
// CHECK-LABEL: func.func @sums
// CHECK: %[[sum:.*]] = graph.reduce add {{.*}} axes [1]
// CHECK: %[[kept:.*]] = graph.barrier %[[sum]]
// CHECK: graph.unary log %[[kept]]
// CHECK: %[[others:.*]] = graph.barrier
// CHECK: graph.reduce max %[[others]]
// CHECK: return
func.func @sums(%x: !graph.tensor<[b, 16], f32> {graph.name = "x"}, %w: !graph.tensor<[16, 64], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "blocks", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 16], f32>, !graph.tensor<[16, 64], f32>
  %1 = graph.unary exp %0 : !graph.tensor<[b, 64], f32>
  %2 = graph.reduce add %1 axes [1] : !graph.tensor<[b, 64], f32>
  %3 = graph.reduce max %0 axes [1] : !graph.tensor<[b, 64], f32>
  %4 = graph.unary log %2 : !graph.tensor<[b], f32>
  %5 = graph.unary exp %3 : !graph.tensor<[b], f32>
  %6 = graph.binary mul %4, %5 : !graph.tensor<[b], f32>
  %7 = graph.reduce add %6 axes [0] : !graph.tensor<[b], f32>
  return %7 : !graph.tensor<[], f32>
}

// Keys that a product of a softmax reads are kept: joined anew, they would be another tensor in the gradients' products.
// CHECK-LABEL: func.func @attention
// CHECK: %[[keys:.*]] = graph.concat
// CHECK: graph.contract %{{.*}}, %[[keys]]
// CHECK: %[[weights:.*]] = graph.unary exp
// CHECK: graph.reduce add %{{.*}} axes [0, 1]
// CHECK-NOT: graph.concat
// CHECK: graph.unary exp
// CHECK-NOT: graph.concat
// CHECK: graph.contract %{{.*}}, %[[keys]]
// CHECK-NOT: graph.concat
// CHECK: return
func.func @attention(%x: !graph.tensor<[n, 8], f32> {graph.name = "x"}, %y: !graph.tensor<[m, 8], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "blocks", losses = array<i64: 0>}} {
  %keys = graph.concat %x, %y axis 0 : !graph.tensor<[n, 8], f32>, !graph.tensor<[m, 8], f32>
  %scores = graph.contract %x, %keys batch [] x [] contract [1] x [1] : !graph.tensor<[n, 8], f32>, !graph.tensor<[m + n, 8], f32>
  %most = graph.reduce max %scores axes [1] : !graph.tensor<[n, m + n], f32>
  %spread = graph.broadcast %most dims [0] : !graph.tensor<[n], f32> -> !graph.tensor<[n, m + n], f32>
  %below = graph.binary sub %scores, %spread : !graph.tensor<[n, m + n], f32>
  %weights = graph.unary exp %below : !graph.tensor<[n, m + n], f32>
  %y2 = graph.contract %weights, %keys batch [] x [] contract [1] x [0] : !graph.tensor<[n, m + n], f32>, !graph.tensor<[m + n, 8], f32>
  %loss = graph.reduce add %y2 axes [0, 1] : !graph.tensor<[n, 8], f32>
  return %loss : !graph.tensor<[], f32>
}

// What is computed again is worth its time: maps that their users fuse take their arithmetic alone.
// CHECK-LABEL: func.func @maps
// CHECK-SAME: attributes {graph.recomputed = {kept_after = 262144 : i64, kept_before = 786432 : i64, values = 2 : i64}}
// CHECK: %[[c:.*]] = graph.contract
// CHECK: graph.reduce add
// CHECK: %[[kept:.*]] = graph.barrier %[[c]]
// CHECK: graph.unary exp %[[kept]]
// CHECK: return
func.func @maps(%x: !graph.tensor<[b, 16], f32> {graph.name = "x"}, %w: !graph.tensor<[16, 1024], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "auto", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 16], f32>, !graph.tensor<[16, 1024], f32>
  %1 = graph.unary exp %0 : !graph.tensor<[b, 1024], f32>
  %2 = graph.binary mul %1, %0 : !graph.tensor<[b, 1024], f32>
  %3 = graph.binary mul %2, %2 : !graph.tensor<[b, 1024], f32>
  %4 = graph.reduce add %3 axes [0, 1] : !graph.tensor<[b, 1024], f32>
  return %4 : !graph.tensor<[], f32>
}

// For so many bytes, products that make more than they read are computed again too; others are kept.
// CHECK-LABEL: func.func @wider
// CHECK-SAME: attributes {graph.recomputed = {kept_after = 4096 : i64, kept_before = {{[0-9]+}} : i64, values = 2 : i64}}
// CHECK: %[[c:.*]] = graph.contract %arg0, %arg1
// CHECK: %[[e:.*]] = graph.unary exp %[[c]]
// CHECK: %[[n:.*]] = graph.contract %[[e]], %arg2
// CHECK: graph.reduce add
// CHECK-NOT: graph.contract %{{.*}}, %arg2 batch [] x [] contract [1] x [0]
// CHECK: %[[x:.*]] = graph.barrier %arg0
// CHECK: %[[again:.*]] = graph.contract %[[x]], %arg1
// CHECK: graph.unary exp %[[again]]
// CHECK: return
func.func @wider(%x: !graph.tensor<[b, 16], f32> {graph.name = "x"}, %w: !graph.tensor<[16, 1024], f32>, %v: !graph.tensor<[1024, 16], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "auto:100K", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 16], f32>, !graph.tensor<[16, 1024], f32>
  %1 = graph.unary exp %0 : !graph.tensor<[b, 1024], f32>
  %2 = graph.contract %1, %v batch [] x [] contract [1] x [0] : !graph.tensor<[b, 1024], f32>, !graph.tensor<[1024, 16], f32>
  %3 = graph.binary mul %2, %2 : !graph.tensor<[b, 16], f32>
  %4 = graph.reduce add %3 axes [0, 1] : !graph.tensor<[b, 16], f32>
  return %4 : !graph.tensor<[], f32>
}

// What moves elements takes memory's time, which products hide only if they take long beside it.
// CHECK-LABEL: func.func @long_products
// CHECK-SAME: values = 1 : i64
// CHECK: %[[kept:.*]] = graph.barrier
// CHECK: graph.concat %[[kept]]
// CHECK: return
func.func @long_products(%x: !graph.tensor<[b, 1024], f32> {graph.name = "x"}, %w: !graph.tensor<[1024, 1024], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "auto", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 1024], f32>, !graph.tensor<[1024, 1024], f32>
  %1 = graph.concat %0, %0 axis 1 : !graph.tensor<[b, 1024], f32>, !graph.tensor<[b, 1024], f32>
  %2 = graph.binary mul %1, %1 : !graph.tensor<[b, 2048], f32>
  %3 = graph.reduce add %2 axes [0, 1] : !graph.tensor<[b, 2048], f32>
  return %3 : !graph.tensor<[], f32>
}

// CHECK-LABEL: func.func @short_products
// CHECK-SAME: values = 0 : i64
// CHECK-NOT: graph.barrier
// CHECK: return
func.func @short_products(%x: !graph.tensor<[b, 16], f32> {graph.name = "x"}, %w: !graph.tensor<[16, 1024], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "auto", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 16], f32>, !graph.tensor<[16, 1024], f32>
  %1 = graph.concat %0, %0 axis 1 : !graph.tensor<[b, 1024], f32>, !graph.tensor<[b, 1024], f32>
  %2 = graph.binary mul %1, %1 : !graph.tensor<[b, 2048], f32>
  %3 = graph.reduce add %2 axes [0, 1] : !graph.tensor<[b, 2048], f32>
  return %3 : !graph.tensor<[], f32>
}

// Transposed parameters are neither kept nor computed again: products read parameters through them.
// CHECK-LABEL: func.func @parameters
// CHECK: %[[turned:.*]] = graph.transpose %arg1
// CHECK: %[[kept:.*]] = graph.barrier
// CHECK: %[[e:.*]] = graph.unary exp %[[kept]]
// CHECK-NOT: graph.transpose
// CHECK: graph.contract %{{.*}}, %[[turned]]
// CHECK: return
func.func @parameters(%x: !graph.tensor<[b, 256], f32> {graph.name = "x"}, %w: !graph.tensor<[1024, 256], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "blocks", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %turned = graph.transpose %w [1, 0] : !graph.tensor<[1024, 256], f32>
  %0 = graph.contract %x, %turned batch [] x [] contract [1] x [0] : !graph.tensor<[b, 256], f32>, !graph.tensor<[256, 1024], f32>
  %1 = graph.unary exp %0 : !graph.tensor<[b, 1024], f32>
  %2 = graph.binary mul %1, %0 : !graph.tensor<[b, 1024], f32>
  %3 = graph.reduce add %2 axes [0, 1] : !graph.tensor<[b, 1024], f32>
  return %3 : !graph.tensor<[], f32>
}

// Where the largest elements of windows are is found with these, and kept.
// CHECK-LABEL: func.func @places
// CHECK: graph.window max %[[pooled:.*]] sizes
// CHECK: graph.window_argmax %[[pooled]] sizes
// CHECK: graph.barrier
// CHECK-NOT: graph.window_argmax
// CHECK: return
func.func @places(%x: !graph.tensor<[b, 8, 16, 16], f32> {graph.name = "x"}) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "auto", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %0 = graph.binary mul %x, %x : !graph.tensor<[b, 8, 16, 16], f32>
  %1 = graph.binary mul %0, %0 : !graph.tensor<[b, 8, 16, 16], f32>
  %2 = graph.window max %1 sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : !graph.tensor<[b, 8, 16, 16], f32>
  %3 = graph.reduce add %2 axes [0, 1, 2, 3] : !graph.tensor<[b, 8, 8, 8], f32>
  return %3 : !graph.tensor<[], f32>
}

// A product's result that a reduction and others read is in memory anyway: it is kept rather than what is made of both, which
// has fewer bytes, but would be written to be kept.
// CHECK-LABEL: func.func @normalized
// CHECK: %[[y:.*]] = graph.contract %arg0, %arg1
// CHECK: %[[turned:.*]] = graph.transpose %[[y]]
// CHECK: %[[sum:.*]] = graph.reduce add %[[turned]]
// CHECK: %[[kept:.*]] = graph.barrier %[[y]]
// CHECK: %[[again:.*]] = graph.transpose %[[kept]]
// CHECK: %[[sums:.*]] = graph.barrier %[[sum]]
// CHECK: graph.binary sub %[[again]]
// CHECK: return
func.func @normalized(%x: !graph.tensor<[b, 4, 16], f32> {graph.name = "x"}, %w: !graph.tensor<[16, 1024], f32>) -> !graph.tensor<[], f32>
    attributes {graph.recompute = {policy = "auto", losses = array<i64: 0>, hints = {b = 64 : i64}}} {
  %0 = graph.contract %x, %w batch [] x [] contract [2] x [0] : !graph.tensor<[b, 4, 16], f32>, !graph.tensor<[16, 1024], f32>
  %1 = graph.transpose %0 [1, 0, 2] : !graph.tensor<[b, 4, 1024], f32>
  %2 = graph.reduce add %1 axes [1, 2] : !graph.tensor<[4, b, 1024], f32>
  %3 = graph.broadcast %2 dims [0] : !graph.tensor<[4], f32> -> !graph.tensor<[4, b, 1024], f32>
  %4 = graph.binary sub %1, %3 : !graph.tensor<[4, b, 1024], f32>
  %5 = graph.binary mul %4, %4 : !graph.tensor<[4, b, 1024], f32>
  %6 = graph.reduce add %5 axes [0, 1, 2] : !graph.tensor<[4, b, 1024], f32>
  return %6 : !graph.tensor<[], f32>
}
