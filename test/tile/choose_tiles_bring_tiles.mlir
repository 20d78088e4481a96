// What the next tile reads and writes is prefetched while one is computed, where it is in no near cache.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 bring-tiles=false" | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --codegen-emit-programs | FileCheck %s --check-prefix=EMITTED
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 bring-tiles=false" --codegen-emit-programs | FileCheck %s --check-prefix=NONE

// CHECK: tiles_brought = 2 : i64
// OFF-NOT: tiles_brought
// OFF-NOT: bring_beyond
// NONE-NOT: prefetch
// NONE: func.func

// Windows, two rows and columns apart: the results' lines, and of each vector of these two rows of two vectors.
// CHECK-LABEL: tile.program @depthwise
// CHECK-SAME: #tile.window<{{.*}}bring_beyond = [[BEYOND:[0-9]+]]>
// EMITTED-LABEL: func.func @depthwise
// EMITTED: %[[BRINGS:.*]] = arith.cmpi sgt, %{{.*}}, %{{c[0-9]+}} : index
// EMITTED: scf.if %[[BRINGS]]
// EMITTED: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 1 : i32}>
// EMITTED-COUNT-4: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
tile.program @depthwise symbols [n, c, h, w](%x: !graph.tensor<[n, c, 2*h, 2*w], f32>, %k: !graph.tensor<[c, 1, 3, 3], f32>)
    -> (!graph.tensor<[n, c, 1, h, w], f32>) {
  %0 = tile.compute [n, c, 1, h, w, 1, 3, 3] [parallel, parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 + d5, d3 * 2 + d6 - 1, d4 * 2 + d7 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 + d2, d5, d6, d7)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, c, 2*h, 2*w], f32>, !graph.tensor<[c, 1, 3, 3], f32>) -> !graph.tensor<[n, c, 1, h, w], f32>
  tile.return %0 : !graph.tensor<[n, c, 1, h, w], f32>
}

// A gradient of a single tap: groups of rows of both operands, none where these are near.
// CHECK-LABEL: tile.program @pointwise
// CHECK-SAME: #tile.weight_gradient<{{.*}}apart = true, bring_beyond = 131072>
// EMITTED-LABEL: func.func @pointwise
// EMITTED: %[[BRINGS:.*]] = arith.cmpi sgt, %{{.*}}, %c131072 : index
// EMITTED: %[[GROUPS:.*]] = arith.select %[[BRINGS]], %{{.*}}, %c0
// EMITTED: %[[OF_X:.*]] = arith.index_cast %[[GROUPS]] : index to i64
// EMITTED: %[[GROUPS_OF_G:.*]] = arith.select %[[BRINGS]], %{{.*}}, %c0
// EMITTED: %[[OF_G:.*]] = arith.index_cast %[[GROUPS_OF_G]] : index to i64
// EMITTED: call @freestone_apart_f32{{.*}}%[[OF_X]], %{{[0-9]+}}, %{{[0-9]+}}, %[[OF_G]]) :
tile.program @pointwise symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2, 28, 28], f32>, %g: !graph.tensor<[s2, s1, 28, 28], f32>)
    -> (!graph.tensor<[s0, s1, 1, 1], f32>) {
  %0 = tile.compute [s0, s1, 1, 1, s2, 28, 28] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>,
          %g : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d5, d6)>)
      init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2, 28, 28], f32>, !graph.tensor<[s2, s1, 28, 28], f32>) -> !graph.tensor<[s0, s1, 1, 1], f32>
  tile.return %0 : !graph.tensor<[s0, s1, 1, 1], f32>
}
