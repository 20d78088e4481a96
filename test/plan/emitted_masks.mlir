// Whole vectors have no masks: without AVX-512, masked loads and stores are slow.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s

// Rows are packed in order, so that lanes past a step's rows are overwritten by the next one. All 96 columns are whole
// rows of panels, which are computed at once.
// CHECK-LABEL: func.func @known
// CHECK-COUNT-16: vector.maskedload {{.*}} into vector<16xf32>
// CHECK-COUNT-16: vector.store {{.*}} vector<16xf32>
// CHECK:          call @freestone_contract
// CHECK-NOT:      vector.create_mask
// CHECK:          vector.load {{.*}} vector<32xf32>
// CHECK:          vector.store {{.*}} vector<32xf32>
// CHECK-NOT:      vector.maskedstore
#kernel = #tile.micro_kernel<rows = 14, vectors = 2, lanes = 16, unroll = 2>
#panels = #tile.panels<axis = 1, width = 32>

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
tile.program @known symbols [m](%x: !x, %w: !w, %b: !b) -> (!y) attributes {plan = #matrix} {
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

// Columns of any number: what is left of the last panel is masked.
// CHECK-LABEL: func.func @unknown
// CHECK:          call @freestone_contract
// CHECK:          scf.for
// CHECK-NOT:      vector.create_mask
// CHECK:          vector.store {{.*}} vector<32xf32>
// CHECK:          scf.for
// CHECK:          vector.create_mask
// CHECK:          vector.load {{.*}} vector<16xf32>
// CHECK:          vector.maskedstore {{.*}} vector<16xf32>
// CHECK-NOT:      vector.maskedstore
// CHECK-LABEL: module @contract_f32_14x32x2
tile.program @unknown symbols [s0, s1, s2](%x: !graph.tensor<[s0, s2], f32>, %w: !graph.tensor<[s2, s1], f32>,
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
