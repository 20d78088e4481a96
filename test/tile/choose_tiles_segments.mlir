// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 segments=false" | FileCheck %s --check-prefix=OFF

// CHECK: module attributes {tile.counters = {segments = 2 : i64, side_by_side = 1 : i64}}
// OFF-NOT: ends
// OFF-NOT: segments

// A segment ends where an operand begins or ends.
// CHECK-LABEL: tile.program @padded
// CHECK-SAME:    columns = s1, lanes = 16, vectors = 1, ends = [1, s2 + 1]>
tile.program @padded symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], f32>) -> (!graph.tensor<[s0, s1], f32>) {
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1 - 1)>) fill [0.0 : f32] {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[s0, s2], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %y : !graph.tensor<[s0, s1], f32>
}

// Or where a comparison of the column changes: the first row is reflected by another choice, which is no end.
// CHECK-LABEL: tile.program @reflected
// CHECK-SAME:    columns = 58, lanes = 16, vectors = 1, ends = [1, 57]>
tile.program @reflected symbols [](%x: !graph.tensor<[56, 56], f32>) -> (!graph.tensor<[57, 58], f32>) {
  %y = tile.compute [57, 58] [parallel, parallel] reads(%x) {
  ^bb0(%t: !graph.tensor<[56, 56], f32>):
    %row = tile.index 0 : index
    %column = tile.index 1 : index
    %c1 = arith.constant 1 : index
    %c57 = arith.constant 57 : index
    %c111 = arith.constant 111 : index
    %isFirst = arith.cmpi slt, %row, %c1 : index
    %above = arith.subi %row, %c1 : index
    %below = arith.subi %c1, %row : index
    %i = arith.select %isFirst, %below, %above : index
    %isLeft = arith.cmpi slt, %column, %c1 : index
    %isInside = arith.cmpi slt, %column, %c57 : index
    %left = arith.subi %c1, %column : index
    %inside = arith.subi %column, %c1 : index
    %right = arith.subi %c111, %column : index
    %rest = arith.select %isInside, %inside, %right : index
    %j = arith.select %isLeft, %left, %rest : index
    %v = tile.read %t[%i, %j] : <[56, 56], f32> -> f32
    tile.yield %v : f32
  } : (!graph.tensor<[56, 56], f32>) -> !graph.tensor<[57, 58], f32>
  tile.return %y : !graph.tensor<[57, 58], f32>
}

// Ends whose order depends on sizes, and columns that fit in a vector, are compared.
// CHECK-LABEL: tile.program @unordered
// CHECK-NOT:     ends
tile.program @unordered symbols [s0, s1, s2, s3](%x: !graph.tensor<[s0, s2], f32>, %y: !graph.tensor<[s0, s3], f32>)
    -> (!graph.tensor<[s0, s1], f32>) {
  %z = tile.compute [s0, s1] [parallel, parallel]
       ins(%x : affine_map<(d0, d1) -> (d0, d1 - 1)>, %y : affine_map<(d0, d1) -> (d0, d1 - 1)>) fill [0.0 : f32, 0.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2], f32>, !graph.tensor<[s0, s3], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %z : !graph.tensor<[s0, s1], f32>
}

// CHECK-LABEL: tile.program @narrow
// CHECK-NOT:     ends
tile.program @narrow symbols [s0](%x: !graph.tensor<[s0, 14], f32>) -> (!graph.tensor<[s0, 16], f32>) {
  %y = tile.compute [s0, 16] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1 - 1)>) fill [0.0 : f32] {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[s0, 14], f32>) -> !graph.tensor<[s0, 16], f32>
  tile.return %y : !graph.tensor<[s0, 16], f32>
}

// A row times a matrix whose columns are contiguous: lanes are columns, rather than gathered along the sum.
// CHECK-LABEL: tile.program @row_times_matrix
// CHECK-SAME:    #tile.map<
tile.program @row_times_matrix symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], f32>, %w: !graph.tensor<[s0, s2, s1], f32>)
    -> (!graph.tensor<[s0, s1], f32>) {
  %y = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d0, d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2], f32>, !graph.tensor<[s0, s2, s1], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %y : !graph.tensor<[s0, s1], f32>
}
