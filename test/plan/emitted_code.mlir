// The plan alone decides every size of the code: other numbers give other code.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s
// RUN: sed -e 's/lanes = 16, vectors = 1/lanes = 8, vectors = 4/' %s | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=LANES
// RUN: sed -e 's/accumulators = \[2\]/accumulators = [3]/' %s | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=ACCUMULATORS
// RUN: sed -e 's/unroll = 2/unroll = 4/' %s | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=UNROLL
// RUN: sed -e 's/ahead = 8/ahead = 3/' %s | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=PREFETCH
// RUN: sed -e 's/compute = 0, input = 0/compute = 0, input = 0, kept = 1, most = 1000000/' %s | not freestone-opt --codegen-emit-programs 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SCRATCH

// Sums along rows: `accumulators` interleaved vectors, combined in order after their run, where it is entered.
// CHECK-LABEL: func.func @row_sums
// CHECK:         %[[WIDE:.*]] = scf.if {{.*}} -> (vector<16xf32>)
// CHECK:           %[[LOOP:.*]]:2 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK:             vector.load
// CHECK:             vector.load
// CHECK-NOT:         vector.load
// CHECK:             scf.yield
// CHECK:           arith.addf %[[LOOP]]#0, %[[LOOP]]#1 : vector<16xf32>
// CHECK:         %[[SINGLE:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[WIDE]]) -> (vector<16xf32>)
// CHECK:         %[[LEFT:.*]] = scf.if
// CHECK:         vector.reduction <add>, %[[LEFT]]
// ACCUMULATORS-LABEL: func.func @row_sums
// ACCUMULATORS:  %[[LOOP:.*]]:3 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>)
// ACCUMULATORS:  %[[TWO:.*]] = arith.addf %[[LOOP]]#0, %[[LOOP]]#1 : vector<16xf32>
// ACCUMULATORS:  arith.addf %[[TWO]], %[[LOOP]]#2 : vector<16xf32>
// ACCUMULATORS:  vector.reduction <add>
tile.program @row_sums symbols [s0, s1](%x: !graph.tensor<[s0, s1], f32>) -> (!graph.tensor<[s0], f32>)
    attributes {plan = #tile.plan<#tile.rows<row_loops = 1, rows = 4, run_loops = [1], lanes = [16], accumulators = [2]>, tiles = s0 ceildiv 4,
                                   scratch = 0, reads = [#sym.expr<4*s1>], writes = [#sym.expr<4>]>} {
  %y = tile.compute [s0, s1] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s1], f32>) -> !graph.tensor<[s0], f32>
  tile.return %y : !graph.tensor<[s0], f32>
}

// Elementwise loops: `lanes` and `vectors` of the tiling.
// CHECK-LABEL: func.func @sums
// CHECK:         vector<16xf32>
// CHECK-NOT:     vector<8xf32>
// CHECK:       func.func private @freestone_contract_f32_14x32x2
// LANES-LABEL: func.func @sums
// LANES:         scf.for {{.*}} iter_args({{%[a-z0-9]+}} = {{%[a-z0-9_]+}}, {{%[a-z0-9]+}} = {{%[a-z0-9_]+}}, {{%[a-z0-9]+}} = {{%[a-z0-9_]+}}, {{%[a-z0-9]+}} = {{%[a-z0-9_]+}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// LANES-NOT:     vector<16xf32>
// LANES:       func.func private @freestone_contract
tile.program @sums symbols [s0, s1](%x: !graph.tensor<[s1, s0], f32>) -> (!graph.tensor<[s0], f32>)
    attributes {plan = #tile.plan<#tile.map<rows = 1, columns = 256, lanes = 16, vectors = 1>, tiles = s0 ceildiv 256, scratch = 0,
                                   reads = [unit], writes = [#sym.expr<256>]>} {
  %y = tile.compute [s0, s1] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d1, d0)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s1, s0], f32>) -> !graph.tensor<[s0], f32>
  tile.return %y : !graph.tensor<[s0], f32>
}

// A contraction whose epilogue reads: the distance of prefetches, and the rows, columns and unrolled steps of the
// micro-kernel.
// CHECK-LABEL: func.func @contraction
// CHECK:         arith.constant 8 : index
// PREFETCH-LABEL: func.func @contraction
// PREFETCH:      %[[AHEAD:.*]] = arith.constant 3 : index
// PREFETCH:      arith.addi {{.*}}, %[[AHEAD]]
// PREFETCH:      llvm.intr.prefetch
// SCRATCH: error: 'tile.program' op has a plan whose scratch is not the one that follows from its tiling
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

// CHECK-LABEL: module @contract_f32_14x32x2
// CHECK:         func.func @block_14
// CHECK:         scf.for
// CHECK-COUNT-28: vector.fma
// CHECK-COUNT-28: vector.fma
// CHECK:         scf.yield
// UNROLL-LABEL: module @contract_f32_14x32x4
// UNROLL:        func.func @block_14
// UNROLL:        scf.for
// UNROLL-COUNT-112: vector.fma
// UNROLL:        scf.yield
