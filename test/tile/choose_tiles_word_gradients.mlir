// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+avx512bf16" | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4,+avx512bf16 transform=false" | FileCheck %s --check-prefix=DIRECT

// Transformed sums of f32 take less time than dot products of bf16 where channels are few enough that the sums stay in L2.
// CHECK-LABEL:  tile.program @few
// CHECK-SAME:     plan = #tile.plan<#tile.weight_gradient<{{.*}}outputs = {{[24]}},
// DIRECT-LABEL: tile.program @few
// DIRECT-SAME:    #tile.dot_product_kernel<unit = vectors
tile.program @few symbols [](%x: !graph.tensor<[8, 64, 56, 56], bf16>, %dy: !graph.tensor<[8, 64, 56, 56], bf16>) -> (!graph.tensor<[64, 64, 3, 3], f32>) {
  %0 = tile.compute [64, 64, 3, 3, 8, 56, 56] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d2 + d5 - 1, d3 + d6 - 1)>,
          %dy : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d5, d6)>) fill [0.0 : bf16, unit] init [0.0 : f32] {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[8, 64, 56, 56], bf16>, !graph.tensor<[8, 64, 56, 56], bf16>) -> !graph.tensor<[64, 64, 3, 3], f32>
  tile.return %0 : !graph.tensor<[64, 64, 3, 3], f32>
}

// CHECK-LABEL:  tile.program @many
// CHECK-SAME:     #tile.dot_product_kernel<unit = vectors
tile.program @many symbols [](%x: !graph.tensor<[8, 512, 7, 7], bf16>, %dy: !graph.tensor<[8, 512, 7, 7], bf16>) -> (!graph.tensor<[512, 512, 3, 3], f32>) {
  %0 = tile.compute [512, 512, 3, 3, 8, 7, 7] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d2 + d5 - 1, d3 + d6 - 1)>,
          %dy : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d5, d6)>) fill [0.0 : bf16, unit] init [0.0 : f32] {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[8, 512, 7, 7], bf16>, !graph.tensor<[8, 512, 7, 7], bf16>) -> !graph.tensor<[512, 512, 3, 3], f32>
  tile.return %0 : !graph.tensor<[512, 512, 3, 3], f32>
}
