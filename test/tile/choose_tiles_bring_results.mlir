// Rows of results that leave L2 are prefetched by the micro-kernel while it computes their sums.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 bring-results=false" | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --codegen-emit-programs | FileCheck %s --check-prefix=EMITTED

// CHECK: results_brought = 2 : i64
// OFF-NOT: results_brought
// OFF-NOT: bring_beyond

// The micro-kernel writes the result: its rows, one row of columns apart, where there are more than fit L2.
// CHECK-LABEL: tile.program @product
// CHECK-SAME: #tile.multiply<compute = 0, columns = 2, bring_beyond = 131072>
// EMITTED-LABEL: func.func @product
// EMITTED: %[[BRINGS:.*]] = arith.cmpi sgt, %{{.*}}, %c131072 : index
// EMITTED: arith.ori %{{.*}}, %[[BRINGS]] : i1
// EMITTED: call @freestone_contract_f32
tile.program @product symbols [s0](%x: !graph.tensor<[s0, 768], f32>, %w: !graph.tensor<[768, 1024], f32>)
    -> (!graph.tensor<[s0, 1024], f32>) {
  %0 = tile.compute [s0, 1024, 768] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 768], f32>, !graph.tensor<[768, 1024], f32>) -> !graph.tensor<[s0, 1024], f32>
  tile.return %0 : !graph.tensor<[s0, 1024], f32>
}

// What follows writes it: its rows are brought before the last block of steps.
// CHECK-LABEL: tile.program @with_bias
// CHECK-SAME: #tile.multiply<compute = 0, columns = 2, bring_beyond = 131072>
// EMITTED-LABEL: func.func @with_bias
// EMITTED: %[[BRINGS:.*]] = arith.cmpi sgt, %{{.*}}, %c131072 : index
// EMITTED: %[[LAST:.*]] = arith.andi %[[BRINGS]], %{{.*}} : i1
// EMITTED: %[[ROWS:.*]] = arith.select %[[LAST]], %{{.*}}, %{{.*}} : !llvm.ptr
// EMITTED: call @freestone_contract_f32{{.*}}%[[ROWS]], %{{[0-9]+}}) :
tile.program @with_bias symbols [s0](%x: !graph.tensor<[s0, 768], f32>, %w: !graph.tensor<[768, 1024], f32>,
                                     %b: !graph.tensor<[1024], f32>) -> (!graph.tensor<[s0, 1024], f32>) {
  %0 = tile.compute [s0, 1024, 768] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %c: f32, %sum: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 768], f32>, !graph.tensor<[768, 1024], f32>) -> !graph.tensor<[s0, 1024], f32>
  %1 = tile.compute [s0, 1024] [parallel, parallel]
      ins(%0 : affine_map<(d0, d1) -> (d0, d1)>, %b : affine_map<(d0, d1) -> (d1)>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 1024], f32>, !graph.tensor<[1024], f32>) -> !graph.tensor<[s0, 1024], f32>
  tile.return %1 : !graph.tensor<[s0, 1024], f32>
}
