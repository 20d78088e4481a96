// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --task-form-phases | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 --task-form-phases | FileCheck %s

// Operations of a loop at every point: elementary functions count as one, casts as none.
tile.program @map symbols [s0](%x: !graph.tensor<[s0, 3], f32>) -> (!graph.tensor<[s0, 3], f32>) {
  %0 = tile.compute [s0, 3] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    %c0 = arith.constant 0.0 : f32
    %e = math.exp %a : f32
    %s = arith.addf %e, %a : f32
    %low = arith.cmpf olt, %s, %c0 : f32
    %r = arith.select %low, %c0, %s : f32
    tile.yield %r : f32
  } : (!graph.tensor<[s0, 3], f32>) -> !graph.tensor<[s0, 3], f32>
  tile.return %0 : !graph.tensor<[s0, 3], f32>
}

// Micro-kernels compute whole panels of columns, 32 wide with 512-bit vectors, 16 with 256; the last one in a vector that
// its columns fit: of 16 lanes here, as wide as a panel of vectors of 8.
tile.program @contract symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], f32>, %w: !graph.tensor<[s2, s1], f32>) -> (!graph.tensor<[s0, s1], f32>) {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2], f32>, !graph.tensor<[s2, s1], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %0 : !graph.tensor<[s0, s1], f32>
}

// CHECK:      task.space @map
// CHECK-SAME:   operations 6*n padding 0
// CHECK:      task.space @contract
// CHECK-SAME:   operations 60*n
// CHECK-SAME:   padding 36*n
func.func @main(%x: !graph.tensor<[n, 3], f32> {graph.name = "x"}) -> (!graph.tensor<[n, 10], f32> {graph.name = "y"}) {
  %w = graph.weight "w" : !graph.tensor<[3, 10], f32>
  %0 = tile.call @map(%x) [s0 = n] : (!graph.tensor<[n, 3], f32>) -> !graph.tensor<[n, 3], f32>
  %1 = tile.call @contract(%0, %w) [s0 = n, s1 = 10, s2 = 3]
      : (!graph.tensor<[n, 3], f32>, !graph.tensor<[3, 10], f32>) -> !graph.tensor<[n, 10], f32>
  return %1 : !graph.tensor<[n, 10], f32>
}
