// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-layouts{pairs=true widen=false strips=false})' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-layouts{pairs=true widen=false strips=false in-runs=false})' | FileCheck %s --check-prefix=APART
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-layouts{widen=false strips=false})' | FileCheck %s --check-prefix=APART

// Filters of bf16 that a gradient reads backwards, a filter apart, are put in order once for all pictures.
// CHECK: tile.counters = {packed = 1 : i64, packed_in_runs = 1 : i64}
// CHECK-LABEL: func.func @of_picture
// CHECK:         %[[ORDERED:.*]] = tile.compute [16, 24, 3, 3] [parallel, parallel, parallel, parallel] ins(%arg1 :
// CHECK:         tile.compute [b, 16, 7, 7, 24, 3, 3] {{.*}} ins(%arg0 : {{.*}}, %[[ORDERED]] :
// APART-LABEL: func.func @of_picture
// APART-NOT:     tile.compute [16, 24, 3, 3]
// APART:         return
func.func @of_picture(%dy: !graph.tensor<[b, 24, 7, 7], bf16>, %w: !graph.tensor<[24, 16, 3, 3], bf16>) -> !graph.tensor<[b, 16, 7, 7], f32> {
  %0 = tile.compute [b, 16, 7, 7, 24, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%dy : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %w : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, -d5 + 2, -d6 + 2)>) fill [0.0 : bf16, unit] init [0.0 : f32] {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[b, 24, 7, 7], bf16>, !graph.tensor<[24, 16, 3, 3], bf16>) -> !graph.tensor<[b, 16, 7, 7], f32>
  return %0 : !graph.tensor<[b, 16, 7, 7], f32>
}

// Those of the convolution itself are in order as they are.
// CHECK-LABEL: func.func @forward
// CHECK-NOT:     tile.compute [16, 24, 3, 3]
// CHECK:         return
func.func @forward(%x: !graph.tensor<[b, 24, 7, 7], bf16>, %w: !graph.tensor<[16, 24, 3, 3], bf16>) -> !graph.tensor<[b, 16, 7, 7], f32> {
  %0 = tile.compute [b, 16, 7, 7, 24, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %w : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) fill [0.0 : bf16, unit] init [0.0 : f32] {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[b, 24, 7, 7], bf16>, !graph.tensor<[16, 24, 3, 3], bf16>) -> !graph.tensor<[b, 16, 7, 7], f32>
  return %0 : !graph.tensor<[b, 16, 7, 7], f32>
}
