// What a tile touches follows from its tiling: neighbouring tiles share rows, or an image, with panels of weights that
// all tiles read.
// RUN: freestone-opt %s --codegen-emit-programs -o /dev/null
// RUN: sed -e 's/elements = 64\*/elements = 32*/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s
// CHECK: has a plan whose reads is not the one that follows from its tiling

#kernel = #tile.micro_kernel<rows = 14, vectors = 2, lanes = 16, unroll = 2>
#panels = #tile.panels<axis = 1, width = 32>

// Rows of A and of the result by all panels of columns; the bias is read by every tile.
!x = !graph.tensor<[m, 64], f32>
!w = !graph.tensor<[64, 96], f32, #panels>
!b = !graph.tensor<[96], f32>
!y = !graph.tensor<[m, 96], f32>
#matrix = #tile.plan<#tile.tree<kernel = #kernel, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 4>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 3, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0, kept = 1, most = 1048576>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.multiply<compute = 0, columns = 2>, #tile.blocks<axis = 1, step = 1, dealt = false, body = [#tile.vectors<axis = 2, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1], lanes = 2, along = 1, ahead = 8>]>]>]>]>]>]>]>,
                     tiles = 3*(m ceildiv (14*min((3*m) floordiv 56, 4) + 14)), scratch = 256*min(2*m, 43) + 64*min(5*m, 65466) + 12544,
                     reads = [#tile.shared_block<elements = 64*(m ceildiv (m ceildiv (14*min((3*m) floordiv 56, 4) + 14))), tiles = 3>, unit, unit],
                     writes = [#tile.shared_block<elements = 96*(m ceildiv (m ceildiv (14*min((3*m) floordiv 56, 4) + 14))), tiles = 3>]>
tile.program @rows symbols [m](%x: !x, %w: !w, %b: !b) -> (!y) attributes {plan = #matrix} {
  %0 = tile.compute [m, 96, 64] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %c: f32, %sum: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !y
  %1 = tile.compute [m, 96] [parallel, parallel]
      ins(%0 : affine_map<(d0, d1) -> (d0, d1)>, %b : affine_map<(d0, d1) -> (d1)>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    tile.yield %s : f32
  } : (!y, !b) -> !y
  tile.return %1 : !y
}

// Rows of columns that are dealt as well.
!m = !graph.tensor<[r, 5000], f32>
#map = #tile.plan<#tile.map<rows = 3, columns = 2048, lanes = 16, vectors = 1>, tiles = 3*(r ceildiv 3), scratch = 0,
                  reads = [#tile.shared_block<elements = 15000, tiles = 3>], writes = [#tile.shared_block<elements = 15000, tiles = 3>]>
tile.program @columns symbols [r](%x: !m) -> (!m) attributes {plan = #map} {
  %0 = tile.compute [r, 5000] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!m) -> !m
  tile.return %0 : !m
}

// A matrix of its own for each tile of a transposition that is not in the first two loops.
!t = !graph.tensor<[r, 300, 200], f32>
!u = !graph.tensor<[r, 200, 300], f32>
#planes = #tile.plan<#tile.transposition<across = 1, rows = 64, columns = 64, width = 16, lanes = 16>, tiles = 20*r, scratch = 0,
                     reads = [#tile.shared_block<elements = 60000, tiles = 20>], writes = [#tile.shared_block<elements = 60000, tiles = 20>]>
tile.program @planes symbols [r](%x: !t) -> (!u) attributes {plan = #planes} {
  %0 = tile.compute [r, 200, 300] [parallel, parallel, parallel] ins(%x : affine_map<(d0, d1, d2) -> (d0, d2, d1)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!t) -> !u
  tile.return %0 : !u
}
