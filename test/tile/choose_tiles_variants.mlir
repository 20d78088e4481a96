// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 inner-products=false" | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 inner-products=false variants=false" | FileCheck %s --check-prefix=OFF

// CHECK: tile.counters = {{{.*}}variants = 1 : i64}
// OFF-NOT: variants

// Few rows are tiled otherwise than many: both tilings are in the plan, and the number of tiles is that of the one that
// a run chooses.
// CHECK-LABEL: tile.program @rows
// CHECK-SAME:    #tile.plan<#tile.choice<[<size = s0, most = [[MOST:[0-9]+]], tiling = #tile.tree<
// CHECK-SAME:    otherwise = #tile.tree<
// CHECK-SAME:    tiles = {{.*}}min(s0 floordiv {{[0-9]+}}, 1){{.*}} scratch = {{.*}} reads = [unit, unit], writes = [unit]>
// OFF-LABEL: tile.program @rows
// OFF-SAME:    #tile.plan<#tile.tree<
tile.program @rows symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], f32>, %w: !graph.tensor<[s2, s1], f32>) -> (!graph.tensor<[s0, s1], f32>) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2], f32>, !graph.tensor<[s2, s1], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %0 : !graph.tensor<[s0, s1], f32>
}

// Sizes that are known ask for one tiling.
// CHECK-LABEL: tile.program @bound
// CHECK-SAME:    #tile.plan<#tile.tree<
tile.program @bound symbols [](%x: !graph.tensor<[64, 96], f32>, %w: !graph.tensor<[96, 80], f32>) -> (!graph.tensor<[64, 80], f32>) {
  %0 = tile.compute [64, 80, 96] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[64, 96], f32>, !graph.tensor<[96, 80], f32>) -> !graph.tensor<[64, 80], f32>
  tile.return %0 : !graph.tensor<[64, 80], f32>
}
