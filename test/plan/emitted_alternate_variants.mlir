// Of a program that chooses at run time, tilings that go forwards alone get their tiles in order, others as they are given.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4,+amx-bf16 \
// RUN:   | sed -e 's/bring_beyond = 131072>]>]>]>/bring_beyond = 131072>]>]>], alternate = true>/' \
// RUN:   | freestone-opt --codegen-emit-programs | FileCheck %s

// CHECK-LABEL: func.func @either(
// CHECK-SAME: %[[BUFFERS:.*]]: !llvm.ptr, %[[SIZES:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[SCRATCH:.*]]: !llvm.ptr)
// CHECK: %[[FROM:.*]] = arith.index_cast %[[BEGIN]] : i64 to index
// CHECK: %[[TO:.*]] = arith.index_cast %[[END]] : i64 to index
// CHECK: %[[LEAST:.*]] = arith.minsi %[[FROM]], %[[TO]]
// CHECK: %[[MOST:.*]] = arith.maxsi %[[FROM]], %[[TO]]
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[LEAST]] : index to i64
// CHECK: %[[LAST:.*]] = arith.index_cast %[[MOST]] : index to i64
// CHECK: call @either.0(%[[BUFFERS]], %[[SIZES]], %[[FIRST]], %[[LAST]], %[[SCRATCH]])
// CHECK: call @either.1(%[[BUFFERS]], %[[SIZES]], %[[BEGIN]], %[[END]], %[[SCRATCH]])
tile.program @either symbols [s0](%x: !graph.tensor<[s0, 768], f32>, %w: !graph.tensor<[768, 3072], f32, #tile.panels<axis = 1, width = 32>>)
    -> (!graph.tensor<[s0, 3072], f32>) {
  %0 = tile.compute [s0, 3072, 768] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 768], f32>, !graph.tensor<[768, 3072], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[s0, 3072], f32>
  tile.return %0 : !graph.tensor<[s0, 3072], f32>
}
