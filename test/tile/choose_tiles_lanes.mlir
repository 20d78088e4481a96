// The lanes of maps: as many as fill a register in the width that elements have in memory, unless the widest values would
// take more than two registers.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 narrow-lanes=false" | FileCheck %s --check-prefix=OFF

// CHECK: module attributes {tile.counters = {narrow_lanes = 3 : i64}}
// OFF-NOT: narrow_lanes

#same = affine_map<(d0) -> (d0)>

// CHECK-LABEL: tile.program @bools
// CHECK-SAME:    lanes = 64
// AVX2-LABEL:  tile.program @bools
// AVX2-SAME:     lanes = 32
// OFF-LABEL:   tile.program @bools
// OFF-SAME:      lanes = 16
tile.program @bools symbols [s0](%x: !graph.tensor<[s0], i1>, %y: !graph.tensor<[s0], i1>) -> (!graph.tensor<[s0], i1>) {
  %z = tile.compute [s0] [parallel] ins(%x : #same, %y : #same) {
  ^bb0(%a: i1, %b: i1):
    %c = arith.andi %a, %b : i1
    tile.yield %c : i1
  } : (!graph.tensor<[s0], i1>, !graph.tensor<[s0], i1>) -> !graph.tensor<[s0], i1>
  tile.return %z : !graph.tensor<[s0], i1>
}

// bf16 is computed in f32.
// CHECK-LABEL: tile.program @sums
// CHECK-SAME:    lanes = 32
// AVX2-LABEL:  tile.program @sums
// AVX2-SAME:     lanes = 16
tile.program @sums symbols [s0](%x: !graph.tensor<[s0], bf16>) -> (!graph.tensor<[s0], bf16>) {
  %z = tile.compute [s0] [parallel] ins(%x : #same) {
  ^bb0(%a: bf16):
    %w = arith.extf %a : bf16 to f32
    %s = arith.addf %w, %w : f32
    %n = arith.truncf %s : f32 to bf16
    tile.yield %n : bf16
  } : (!graph.tensor<[s0], bf16>) -> !graph.tensor<[s0], bf16>
  tile.return %z : !graph.tensor<[s0], bf16>
}

// Values of 64 bits: already two registers.
// CHECK-LABEL: tile.program @wide
// CHECK-SAME:    lanes = 16
tile.program @wide symbols [s0](%x: !graph.tensor<[s0], i64>, %y: !graph.tensor<[s0], i64>) -> (!graph.tensor<[s0], i1>) {
  %z = tile.compute [s0] [parallel] ins(%x : #same, %y : #same) {
  ^bb0(%a: i64, %b: i64):
    %c = arith.cmpi eq, %a, %b : i64
    tile.yield %c : i1
  } : (!graph.tensor<[s0], i64>, !graph.tensor<[s0], i64>) -> !graph.tensor<[s0], i1>
  tile.return %z : !graph.tensor<[s0], i1>
}

// Rows that end within a vector: only where they are long.
// CHECK-LABEL: tile.program @short_rows
// CHECK-SAME:    lanes = 16
// CHECK-LABEL: tile.program @whole_rows
// CHECK-SAME:    lanes = 32
#rows = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>
tile.program @short_rows symbols [s0](%x: !graph.tensor<[s0, 40], i16>, %y: !graph.tensor<[s0, 1], i16>) -> (!graph.tensor<[s0, 40], i16>) {
  %z = tile.compute [s0, 40] [parallel, parallel] ins(%x : #rows, %y : #column) {
  ^bb0(%a: i16, %b: i16):
    %c = arith.addi %a, %b : i16
    tile.yield %c : i16
  } : (!graph.tensor<[s0, 40], i16>, !graph.tensor<[s0, 1], i16>) -> !graph.tensor<[s0, 40], i16>
  tile.return %z : !graph.tensor<[s0, 40], i16>
}
tile.program @whole_rows symbols [s0](%x: !graph.tensor<[s0, 96], i16>, %y: !graph.tensor<[s0, 1], i16>) -> (!graph.tensor<[s0, 96], i16>) {
  %z = tile.compute [s0, 96] [parallel, parallel] ins(%x : #rows, %y : #column) {
  ^bb0(%a: i16, %b: i16):
    %c = arith.addi %a, %b : i16
    tile.yield %c : i16
  } : (!graph.tensor<[s0, 96], i16>, !graph.tensor<[s0, 1], i16>) -> !graph.tensor<[s0, 96], i16>
  tile.return %z : !graph.tensor<[s0, 96], i16>
}
