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

// What only adds to a state takes no memory of its own: it moves up to the value that it adds. An update that reads
// what others read later stays.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: shortened = 1 : i64
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: math.sqrt
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: return
func.func @sums(%x: !graph.tensor<[64, 64], f32> {graph.name = "x"}, %rate: !graph.tensor<[], f32> {graph.name = "rate"},
                %s: !graph.tensor<[64, 64], f32> {graph.state = "s"}, %w: !graph.tensor<[64, 64], f32> {graph.state = "w"},
                %v: !graph.tensor<[64, 64], f32> {graph.state = "v"})
    -> (!graph.tensor<[64, 64], f32> {graph.state = "s"}, !graph.tensor<[64, 64], f32> {graph.state = "w"},
        !graph.tensor<[64, 64], f32> {graph.state = "v"}) {
  %0 = tile.compute [64, 64] [parallel, parallel] ins(%x : #id) {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    tile.yield %e : f32
  } : (!graph.tensor<[64, 64], f32>) -> !graph.tensor<[64, 64], f32>
  %1 = tile.compute [64, 64] [parallel, parallel] ins(%x : #id) {
  ^bb0(%a: f32):
    %e = math.sqrt %a : f32
    tile.yield %e : f32
  } : (!graph.tensor<[64, 64], f32>) -> !graph.tensor<[64, 64], f32>
  %factor = tile.compute [] [] ins(%rate : affine_map<() -> ()>) {
  ^bb0(%a: f32):
    %e = arith.negf %a : f32
    tile.yield %e : f32
  } : (!graph.tensor<[], f32>) -> !graph.tensor<[], f32>
  %2 = tile.compute [64, 64] [parallel, parallel] ins(%w : #id, %1 : #id, %factor : affine_map<(d0, d1) -> ()>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %e = arith.mulf %b, %c : f32
    %f = arith.addf %a, %e : f32
    tile.yield %f : f32
  } : (!graph.tensor<[64, 64], f32>, !graph.tensor<[64, 64], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[64, 64], f32>
  %3 = tile.compute [64, 64] [parallel, parallel] ins(%v : #id, %factor : affine_map<(d0, d1) -> ()>) {
  ^bb0(%a: f32, %c: f32):
    %e = arith.mulf %a, %c : f32
    tile.yield %e : f32
  } : (!graph.tensor<[64, 64], f32>, !graph.tensor<[], f32>) -> !graph.tensor<[64, 64], f32>
  %4 = tile.compute [64, 64] [parallel, parallel] ins(%0 : #id, %s : #id) {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    tile.yield %e : f32
  } : (!graph.tensor<[64, 64], f32>, !graph.tensor<[64, 64], f32>) -> !graph.tensor<[64, 64], f32>
  return %4, %2, %3 : !graph.tensor<[64, 64], f32>, !graph.tensor<[64, 64], f32>, !graph.tensor<[64, 64], f32>
}
