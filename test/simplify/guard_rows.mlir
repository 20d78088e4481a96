// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-guard-rows))' | FileCheck %s
// RUN: freestone-opt %s -pass-pipeline='builtin.module(func.func(graph-guard-rows{enable=false}))' | FileCheck %s --check-prefix=OFF

// Shares are selected by their row's sum. Other uses of the test stay.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[sum:.*]] = graph.reduce add %{{.*}} axes [1]
// CHECK: %[[share:.*]] = graph.binary mul
// CHECK: %[[whole:.*]] = graph.compare ge %[[sum]], %{{.*}} : <[m], f32>
// CHECK: %[[hidden:.*]] = graph.unary not %[[whole]]
// CHECK: %[[guard:.*]] = graph.broadcast %[[hidden]] dims [0] : <[m], i1> -> <[m, n], i1>
// CHECK: %[[nan:.*]] = graph.unary isnan %[[share]]
// CHECK: %[[safe:.*]] = graph.select %[[guard]], %{{.*}}, %[[share]]
// CHECK: return %[[safe]], %[[nan]]
// OFF-LABEL: func.func @softmax
// OFF: %[[nan:.*]] = graph.unary isnan
// OFF: graph.select %[[nan]]
func.func @softmax(%x: !graph.tensor<[m, n], f32>) -> (!graph.tensor<[m, n], f32>, !graph.tensor<[m, n], i1>) {
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[m, n], f32>
  %most = graph.reduce max %x axes [1] : !graph.tensor<[m, n], f32>
  %each = graph.broadcast %most dims [0] : !graph.tensor<[m], f32> -> !graph.tensor<[m, n], f32>
  %distance = graph.binary sub %x, %each : !graph.tensor<[m, n], f32>
  %power = graph.unary exp %distance : !graph.tensor<[m, n], f32>
  %sum = graph.reduce add %power axes [1] : !graph.tensor<[m, n], f32>
  %inverse = graph.unary reciprocal %sum : !graph.tensor<[m], f32>
  %repeated = graph.broadcast %inverse dims [0] : !graph.tensor<[m], f32> -> !graph.tensor<[m, n], f32>
  %share = graph.binary mul %power, %repeated : !graph.tensor<[m, n], f32>
  %nan = graph.unary isnan %share : !graph.tensor<[m, n], f32>
  %safe = graph.select %nan, %zero, %share : !graph.tensor<[m, n], i1>, !graph.tensor<[m, n], f32>
  return %safe, %nan : !graph.tensor<[m, n], f32>, !graph.tensor<[m, n], i1>
}

// Of distances to another tensor's maximum, single elements may be NaN.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.compare
// CHECK: %[[nan:.*]] = graph.unary isnan
// CHECK: graph.select %[[nan]]
func.func @others(%x: !graph.tensor<[m, n], f32>, %y: !graph.tensor<[m, n], f32>) -> !graph.tensor<[m, n], f32> {
  %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[m, n], f32>
  %most = graph.reduce max %y axes [1] : !graph.tensor<[m, n], f32>
  %each = graph.broadcast %most dims [0] : !graph.tensor<[m], f32> -> !graph.tensor<[m, n], f32>
  %distance = graph.binary sub %x, %each : !graph.tensor<[m, n], f32>
  %power = graph.unary exp %distance : !graph.tensor<[m, n], f32>
  %sum = graph.reduce add %power axes [1] : !graph.tensor<[m, n], f32>
  %inverse = graph.unary reciprocal %sum : !graph.tensor<[m], f32>
  %repeated = graph.broadcast %inverse dims [0] : !graph.tensor<[m], f32> -> !graph.tensor<[m, n], f32>
  %share = graph.binary mul %power, %repeated : !graph.tensor<[m, n], f32>
  %nan = graph.unary isnan %share : !graph.tensor<[m, n], f32>
  %safe = graph.select %nan, %zero, %share : !graph.tensor<[m, n], i1>, !graph.tensor<[m, n], f32>
  return %safe : !graph.tensor<[m, n], f32>
}
