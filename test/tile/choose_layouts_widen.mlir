// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-layouts{pairs=true})' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-layouts{pairs=true steps-of-pairs=16})' | FileCheck %s --check-prefix=WORDS
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-layouts{pairs=true widen=false})' | FileCheck %s --check-prefix=WORDS
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-layouts{transform=false})' | FileCheck %s --check-prefix=DIRECT
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-choose-layouts,tile-outline,tile-choose-tiles{target=x86-64-v4})' | FileCheck %s --check-prefix=TILES

// A convolution of bf16 is one of f32, whose filters are widened and transformed in the run, where dot products of pairs
// take longer; without these also where nothing is transformed. The picture stays narrow. Filters of dot products are
// stored in strips of words, once for all pictures.
// CHECK:        tile.counters = {packed = 1 : i64, packed_in_runs = 1 : i64, transformed = 1 : i64, widened = 1 : i64}
// CHECK-LABEL:  func.func @convolution
// CHECK:          %[[NARROW:.*]] = tile.compute [64, 64, 3, 3]
// CHECK:          %[[PANELS:.*]] = tile.compute [2, 64, 3, 3, 32] {{.*}} ins(%[[NARROW]] :
// CHECK:          -> !graph.tensor<[2, 64, 3, 3, 32], bf16>
// CHECK:          %[[STORED:.*]] = tile.compute [2, 6, 6, 64, 32]
// CHECK:          arith.extf
// CHECK:          %[[FILTERS:.*]] = tile.view %[[STORED]] : <[2, 6, 6, 64, 32], f32> -> <[64, 3, 3, 64], f32, #tile.winograd<outputs = 4, width = 32>>
// CHECK:          tile.compute [b, 64, 56, 56, 64, 3, 3] {{.*}} ins(%arg0 : {{.*}}, %[[FILTERS]] :
// CHECK-NEXT:     ^bb0(%[[PIXEL:.*]]: bf16, %[[TAP:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:       %[[WIDE:.*]] = arith.extf %[[PIXEL]] : bf16 to f32
// CHECK-NEXT:       arith.mulf %[[WIDE]], %[[TAP]] : f32
// WORDS:        tile.counters = {packed = 1 : i64, packed_in_runs = 1 : i64, packed_strips = 1 : i64}
// WORDS-LABEL:  func.func @convolution
// WORDS:          %[[STORED:.*]] = tile.compute [2, 18, 32, 32]
// WORDS:          %[[STRIPS:.*]] = tile.view %[[STORED]] : <[2, 18, 32, 32], bf16> -> <[64, 64, 3, 3], bf16, #tile.strips<of = 2>>
// WORDS:          tile.compute [b, 64, 56, 56, 64, 3, 3] {{.*}} ins(%arg0 : {{.*}}, %[[STRIPS]] :
// DIRECT-LABEL: func.func @convolution
// DIRECT:         %[[PANELS:.*]] = tile.compute [2, 64, 3, 3, 32]
// DIRECT:         arith.extf
// DIRECT:         tile.view %[[PANELS]] : <[2, 64, 3, 3, 32], f32> -> <[64, 3, 3, 64], f32, #tile.panels<axis = 3, width = 32>>
// TILES:        plan = #tile.plan<#tile.convolution<
func.func @convolution(%x: !graph.tensor<[b, 64, 56, 56], bf16>, %w: !graph.tensor<[64, 64, 3, 3], f32>) -> !graph.tensor<[b, 64, 56, 56], f32> {
  %n = tile.compute [64, 64, 3, 3] [parallel, parallel, parallel, parallel] ins(%w : affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>) {
  ^bb0(%a: f32):
    %narrow = arith.truncf %a : f32 to bf16
    tile.yield %narrow : bf16
  } : (!graph.tensor<[64, 64, 3, 3], f32>) -> !graph.tensor<[64, 64, 3, 3], bf16>
  %0 = tile.compute [b, 64, 56, 56, 64, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 + d6 - 1)>,
          %n : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) fill [0.0 : bf16, unit] init [0.0 : f32] {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[b, 64, 56, 56], bf16>, !graph.tensor<[64, 64, 3, 3], bf16>) -> !graph.tensor<[b, 64, 56, 56], f32>
  return %0 : !graph.tensor<[b, 64, 56, 56], f32>
}
