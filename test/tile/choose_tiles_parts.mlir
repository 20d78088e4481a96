// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-tiles{target=x86-64-v4})' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-tiles{target=x86-64-v4 parts-of-rows=false})' | FileCheck %s --check-prefix=WHOLE

// CHECK: tile.counters = {parts_of_rows = 1 : i64}
// WHOLE-NOT: parts_of_rows

// Few elements that take long: a tile is a part of a row.
// CHECK-LABEL: tile.program @gates
// CHECK-SAME:    #tile.map<rows = 1, columns = 128, lanes = 16
// WHOLE-LABEL: tile.program @gates
// WHOLE-SAME:    #tile.map<rows = {{[0-9]+}}, columns = 256, lanes = 16
tile.program @gates symbols [s0](%x: !graph.tensor<[s0, 256], f32>, %y: !graph.tensor<[s0, 256], f32>) -> (!graph.tensor<[s0, 256], f32>) {
  %0 = tile.compute [s0, 256] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>, %y : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32, %b: f32):
    %t0 = math.tanh %a : f32
    %t1 = math.tanh %b : f32
    %p = arith.mulf %t0, %t1 : f32
    %t2 = math.tanh %p : f32
    %t3 = math.exp %t2 : f32
    %t4 = math.exp %a : f32
    %t5 = math.exp %b : f32
    %q = arith.addf %t4, %t5 : f32
    %d = arith.divf %t3, %q : f32
    %r = arith.divf %d, %a : f32
    tile.yield %r : f32
  } : (!graph.tensor<[s0, 256], f32>, !graph.tensor<[s0, 256], f32>) -> !graph.tensor<[s0, 256], f32>
  tile.return %0 : !graph.tensor<[s0, 256], f32>
}

// Elements that take no time: whole rows.
// CHECK-LABEL: tile.program @sums
// CHECK-SAME:    #tile.map<rows = {{[0-9]+}}, columns = 256,
tile.program @sums symbols [s0](%x: !graph.tensor<[s0, 256], f32>) -> (!graph.tensor<[s0, 256], f32>) {
  %0 = tile.compute [s0, 256] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    tile.yield %r : f32
  } : (!graph.tensor<[s0, 256], f32>) -> !graph.tensor<[s0, 256], f32>
  tile.return %0 : !graph.tensor<[s0, 256], f32>
}
