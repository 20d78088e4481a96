// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile),tile-outline,tile-choose-tiles{target=x86-64-v4})' | FileCheck %s

// Every lane keeps a maximum and its position, which are replaced together.
// CHECK-LABEL: tile.program @p0
// CHECK-SAME:    lanes = [16]
func.func @largest(%x: !graph.tensor<[n, m], f32>) -> !graph.tensor<[n], i64> {
  %i = graph.arg_reduce max %x axis 1 : !graph.tensor<[n, m], f32>
  return %i : !graph.tensor<[n], i64>
}

// The selection depends on the position, which is no accumulator: a lane's result can't be offered to the next.
// CHECK-LABEL: tile.program @p1
// CHECK-SAME:    lanes = [1]
func.func @every_other(%x: !graph.tensor<[n, m], f32>) -> !graph.tensor<[n], f32> {
  %r = tile.compute [n, m] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %most: f32):
    %place = tile.index 1 : index
    %two = arith.constant 2 : index
    %rest = arith.remui %place, %two : index
    %zero = arith.constant 0 : index
    %even = arith.cmpi eq, %rest, %zero : index
    %larger = arith.cmpf ogt, %a, %most : f32
    %takes = arith.andi %even, %larger : i1
    %s = arith.select %takes, %a, %most : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, m], f32>) -> !graph.tensor<[n], f32>
  return %r : !graph.tensor<[n], f32>
}

// A value that depends on an accumulator is not a point's.
// CHECK-LABEL: tile.program @p2
// CHECK-SAME:    lanes = [1]
func.func @capped(%x: !graph.tensor<[n, m], f32>) -> !graph.tensor<[n], f32> {
  %r = tile.compute [n, m] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %next = arith.addf %sum, %a : f32
    %cap = arith.constant 1.0 : f32
    %takes = arith.cmpf olt, %sum, %cap : f32
    %s = arith.select %takes, %next, %sum : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, m], f32>) -> !graph.tensor<[n], f32>
  return %r : !graph.tensor<[n], f32>
}
