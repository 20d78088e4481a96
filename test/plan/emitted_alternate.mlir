// A program that alternates goes backwards where it is called with the end of its tiles before their beginning: panels of
// columns from the last one on, and what is prefetched behind each is the one before.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s
// RUN: sed -e 's/body = .#tile.multiply/body = [#tile.packed<compute = 0, input = 1>, #tile.multiply/; s/, #tile.panels<axis = 1, width = 32>//g' %s \
// RUN:   | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=PACKED

// PACKED: panels that alternate are stored, and multiplied and added

// CHECK-LABEL: func.func @state
// CHECK: %[[BACKWARDS:.*]] = arith.cmpi sgt, %[[FIRST:.*]], %[[SECOND:.*]] : index
// CHECK: arith.minsi %[[FIRST]], %[[SECOND]]
// CHECK: arith.maxsi %[[FIRST]], %[[SECOND]]
// CHECK-COUNT-3: arith.select %[[BACKWARDS]]
#plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
    #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 16384, most_rows = 42, least_tiles = 4>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 4, body = [
        #tile.blocks<axis = 3, step = 128, unit = 16, dealt = false, body = [
          #tile.packed<compute = 0, input = 0, kept = 1, most = 524288>,
          #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.multiply<compute = 0, columns = 2>]>]>], alternate = true>]>]>,
  tiles = 8*(s0 ceildiv (14*min(s0 floordiv 7, 7) + 14)), scratch = 128*min(9*s0, 826) + 128*min(9*s0, 16258) + 33152,
  reads = [#tile.shared_block<elements = 256*(s0 ceildiv (s0 ceildiv (14*min(s0 floordiv 7, 7) + 14))), tiles = 8>, unit],
  writes = [#tile.shared_block<elements = 256*(s0 ceildiv (s0 ceildiv (14*min(s0 floordiv 7, 7) + 14))), tiles = 8>]>
tile.program @state symbols [s0](%x: !graph.tensor<[s0, 256], f32>, %w: !graph.tensor<[256, 256], f32, #tile.panels<axis = 1, width = 32>>)
    -> (!graph.tensor<[s0, 256], f32>) attributes {plan = #plan} {
  %0 = tile.compute [s0, 256, 256] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 256], f32>, !graph.tensor<[256, 256], f32, #tile.panels<axis = 1, width = 32>>) -> !graph.tensor<[s0, 256], f32>
  tile.return %0 : !graph.tensor<[s0, 256], f32>
}
