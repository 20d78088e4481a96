// RUN: freestone-opt %s --tile-shorten-live-ranges | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum is all that remains of the exponentials: it moves up to them. A compute that makes as much as it reads is not
// moved, nor is one whose operands are needed later.
// CHECK-LABEL: func.func @main
// CHECK-SAME: attributes {tile.counters = {shortened = 1 : i64}}
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: math.sqrt
// CHECK: math.sin
// CHECK: return
func.func @main(%x: !graph.tensor<[b, 64], f32>) -> (!graph.tensor<[b], f32>, !graph.tensor<[b, 64], f32>) {
  %0 = tile.compute [b, 64] [parallel, parallel] ins(%x : #id) {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    tile.yield %e : f32
  } : (!graph.tensor<[b, 64], f32>) -> !graph.tensor<[b, 64], f32>
  %1 = tile.compute [b, 64] [parallel, parallel] ins(%x : #id) {
  ^bb0(%a: f32):
    %e = math.sqrt %a : f32
    tile.yield %e : f32
  } : (!graph.tensor<[b, 64], f32>) -> !graph.tensor<[b, 64], f32>
  %2 = tile.compute [b, 64] [parallel, parallel] ins(%1 : #id) {
  ^bb0(%a: f32):
    %e = math.sin %a : f32
    tile.yield %e : f32
  } : (!graph.tensor<[b, 64], f32>) -> !graph.tensor<[b, 64], f32>
  %3 = tile.compute [b, 64] [parallel, reduction] ins(%0 : #id) init [0.0 : f32] {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[b, 64], f32>) -> !graph.tensor<[b], f32>
  return %3, %2 : !graph.tensor<[b], f32>, !graph.tensor<[b, 64], f32>
}
