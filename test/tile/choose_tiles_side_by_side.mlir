// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-tiles{target=x86-64-v4})' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-tiles{target=x86-64-v4 side-by-side=false})' | FileCheck %s --check-prefix=ALONE

// CHECK: tile.counters = {side_by_side = 1 : i64}
// ALONE-NOT: side_by_side

// A chain of dependent operations that is longer than what a processor looks ahead.
// CHECK-LABEL: tile.program @chain
// CHECK-SAME:    vectors = 2>
// ALONE-LABEL: tile.program @chain
// ALONE-SAME:    vectors = 1>
tile.program @chain symbols [s0](%x: !graph.tensor<[s0], f32>) -> (!graph.tensor<[s0], f32>) {
  %0 = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %t0 = math.tanh %a : f32
    %t1 = math.tanh %t0 : f32
    %t2 = math.tanh %t1 : f32
    %t3 = math.tanh %t2 : f32
    %t4 = math.tanh %t3 : f32
    %t5 = math.tanh %t4 : f32
    %t6 = math.tanh %t5 : f32
    %t7 = math.tanh %t6 : f32
    tile.yield %t7 : f32
  } : (!graph.tensor<[s0], f32>) -> !graph.tensor<[s0], f32>
  tile.return %0 : !graph.tensor<[s0], f32>
}

// A short chain: the next vectors are within sight.
// CHECK-LABEL: tile.program @short
// CHECK-SAME:    vectors = 1>
tile.program @short symbols [s0](%x: !graph.tensor<[s0], f32>) -> (!graph.tensor<[s0], f32>) {
  %0 = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %t0 = math.tanh %a : f32
    %t1 = math.tanh %t0 : f32
    tile.yield %t1 : f32
  } : (!graph.tensor<[s0], f32>) -> !graph.tensor<[s0], f32>
  tile.return %0 : !graph.tensor<[s0], f32>
}

// Many operations, but in several chains.
// CHECK-LABEL: tile.program @wide
// CHECK-SAME:    vectors = 1>
tile.program @wide symbols [s0](%x: !graph.tensor<[s0], f32>) -> (!graph.tensor<[s0], f32>) {
  %0 = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %t0 = math.tanh %a : f32
    %t1 = math.tanh %a : f32
    %t2 = math.tanh %a : f32
    %t3 = math.tanh %a : f32
    %t4 = math.tanh %a : f32
    %t5 = math.tanh %a : f32
    %t6 = math.tanh %a : f32
    %t7 = math.tanh %a : f32
    %s1 = arith.addf %t0, %t1 : f32
    %s2 = arith.addf %s1, %t2 : f32
    %s3 = arith.addf %s2, %t3 : f32
    %s4 = arith.addf %s3, %t4 : f32
    %s5 = arith.addf %s4, %t5 : f32
    %s6 = arith.addf %s5, %t6 : f32
    %s7 = arith.addf %s6, %t7 : f32
    tile.yield %s7 : f32
  } : (!graph.tensor<[s0], f32>) -> !graph.tensor<[s0], f32>
  tile.return %0 : !graph.tensor<[s0], f32>
}
