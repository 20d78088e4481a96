// LLVM reduces the strength of loops that compute few addresses; without the switch, of all loops: functions say so, beside
// what they say otherwise.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s --check-prefix=SHORT
// RUN: freestone-opt %s --codegen-emit-programs=reduce-short-loops=false | FileCheck %s --check-prefix=ALL

// SHORT-NOT: freestone-all-loops
// ALL: func.func @contraction({{.*}}) attributes {passthrough = ["freestone-all-loops"]}
// ALL: func.func @block_1({{.*}}passthrough = ["freestone-aligned-loops", "freestone-all-loops"]}
tile.program @contraction symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], f32>, %w: !graph.tensor<[s2, s1], f32>,
                                               %z: !graph.tensor<[s0, s1], f32>) -> (!graph.tensor<[s0, s1], f32>)
    attributes {plan = #tile.plan<#tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 1>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>, #tile.blocks<axis = 1, step = 1, dealt = false, body = [#tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1], lanes = 2, along = 1, ahead = 8>]>]>]>]>]>]>]>,
      tiles = (s1 ceildiv 32)*(s0 ceildiv (14*min((s0*(s1 ceildiv 32)) floordiv 14, 292 floordiv (min(s2, 32) + 32), 1024 floordiv (min(s1, 992) + 32)) + 14)), scratch = 64*(min(s0*s1 + 32*s0 + 14*s1, 4096) ceildiv 16) + 64*(min(s0*s2 + s0*min(s2, 48) + 16*s0 + 14*s2 + 672, s0*s2 + s0*min(s2, 48) + 16*s0 + 28*s2, 4768) ceildiv 16) + 64*(min(s1*s2 + s1*min(s2, 48) + 16*s1 + 32*s2 + 1536, s1*s2 + s1*min(s2, 48) + 16*s1 + 64*s2, 1536) ceildiv 16) + 5632, reads = [unit, unit, unit], writes = [unit]>} {
  %c = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s2], f32>, !graph.tensor<[s2, s1], f32>) -> !graph.tensor<[s0, s1], f32>
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%c : affine_map<(d0, d1) -> (d0, d1)>, %z : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s1], f32>, !graph.tensor<[s0, s1], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %y : !graph.tensor<[s0, s1], f32>
}
