// Products of a loop's body go through stored panels backwards in odd iterations; those outside of loops do not.
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 | FileCheck %s
// RUN: freestone-opt %s --tile-choose-tiles="target=x86-64-v4 alternate=false" | FileCheck %s --check-prefix=OFF
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v4 --task-form-phases | FileCheck %s --check-prefix=FORMED

// CHECK: alternating = 1 : i64
// OFF-NOT: alternat

// CHECK-LABEL: tile.program @state
// CHECK-SAME: #tile.blocks<axis = 2, step = 32, dealt = true, together = {{[0-9]+}}, body = {{.*}}, alternate = true>
tile.program @state symbols [s0](%x: !graph.tensor<[s0, 256], f32>, %w: !graph.tensor<[256, 256], f32, #tile.panels<axis = 1, width = 32>>)
    -> (!graph.tensor<[s0, 256], f32>) {
  %0 = tile.compute [s0, 256, 256] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 256], f32>, !graph.tensor<[256, 256], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[s0, 256], f32>
  tile.return %0 : !graph.tensor<[s0, 256], f32>
}

// CHECK-LABEL: tile.program @once
// CHECK-NOT: alternate
tile.program @once symbols [s0](%x: !graph.tensor<[s0, 300], f32>, %w: !graph.tensor<[300, 256], f32, #tile.panels<axis = 1, width = 32>>)
    -> (!graph.tensor<[s0, 256], f32>) {
  %0 = tile.compute [s0, 256, 300] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 300], f32>, !graph.tensor<[300, 256], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[s0, 256], f32>
  tile.return %0 : !graph.tensor<[s0, 256], f32>
}

func.func private @body(%h: !graph.tensor<[b, 256], f32>, %w: !graph.tensor<[256, 256], f32, #tile.panels<axis = 1, width = 32>>)
    -> !graph.tensor<[b, 256], f32> {
  %0 = tile.call @state(%h, %w) [s0 = b] : (!graph.tensor<[b, 256], f32>, !graph.tensor<[256, 256], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[b, 256], f32>
  return %0 : !graph.tensor<[b, 256], f32>
}

// FORMED: task.space @state({{.*}} alternate :
// FORMED: task.space @once({{.*}} padding 0 :
func.func @main(%h: !graph.tensor<[b, 256], f32> {graph.name = "h"},
                %w: !graph.tensor<[256, 256], f32, #tile.panels<axis = 1, width = 32>> {graph.name = "w"},
                %x: !graph.tensor<[b, 300], f32> {graph.name = "x"},
                %v: !graph.tensor<[300, 256], f32, #tile.panels<axis = 1, width = 32>> {graph.name = "v"})
    -> (!graph.tensor<[b, 256], f32> {graph.name = "y"}, !graph.tensor<[b, 256], f32> {graph.name = "z"}) {
  %0 = tile.loop @body trips b carry(%h) as [-1] with(%w) : (!graph.tensor<[b, 256], f32>, !graph.tensor<[256, 256], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[b, 256], f32>
  %1 = tile.call @once(%x, %v) [s0 = b] : (!graph.tensor<[b, 300], f32>, !graph.tensor<[300, 256], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[b, 256], f32>
  return %0, %1 : !graph.tensor<[b, 256], f32>, !graph.tensor<[b, 256], f32>
}
