// The device may be a description: one that nobody built, and one whose sizes are impossible.
// RUN: freestone-opt %s --tile-choose-tiles='target={{"triple":"t","cpu":"c","features":"","memory_levels":[{"bytes":16384}],"vector_bytes":1024,"vector_registers":32}}' | FileCheck %s
// RUN: freestone-opt %s --tile-split-reductions='target={{"triple":"t","cpu":"c","features":"","memory_levels":[{"bytes":16384}],"vector_bytes":1024,"vector_registers":32}}' | FileCheck %s --check-prefix=SPLIT
// RUN: not freestone-opt %s --tile-choose-tiles='target={{"triple":"t"}}' 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: missing value at device.cpu

// CHECK-LABEL: tile.program @map
// CHECK-SAME:    lanes = 256
// SPLIT-LABEL: tile.program @map
tile.program @map symbols [s0](%x: !graph.tensor<[s0], f32>) -> (!graph.tensor<[s0], f32>) {
  %z = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0], f32>) -> !graph.tensor<[s0], f32>
  tile.return %z : !graph.tensor<[s0], f32>
}
