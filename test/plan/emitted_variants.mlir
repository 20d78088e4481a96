// Each variant is a function of its own module; the program calls that of the run's sizes.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s

// CHECK-LABEL: module @map
// CHECK:         func.func @map.0({{.*}}) attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK:         func.func @map.1({{.*}}) attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK:         func.func @map.2({{.*}}) attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK:         func.func @map(
// CHECK-DAG:       %[[FEW:.*]] = arith.constant 16 : index
// CHECK:           arith.cmpi sle, %{{.*}}, %[[FEW]] : index
// CHECK:           scf.if
// CHECK:             call @map.0(
// CHECK:           } else {
// CHECK:             arith.cmpi sle
// CHECK:             scf.if
// CHECK:               call @map.1(
// CHECK:             } else {
// CHECK:               call @map.2(
!v = !graph.tensor<[s0], f32>
#plan = #tile.plan<#tile.choice<[<size = s0, most = 16, tiling = #tile.map<rows = 1, columns = 8, lanes = 8, vectors = 1>>,
                                   <size = s0, most = 64, tiling = #tile.map<rows = 1, columns = 32, lanes = 8, vectors = 1>>],
                                  otherwise = #tile.map<rows = 1, columns = 128, lanes = 16, vectors = 1>>,
                   tiles =
                     -((s0 + 31) floordiv 64)*min(s0 floordiv 17, 1)*min(s0 floordiv 65, 1) - ((s0 + 63) floordiv 128)*min(s0 floordiv 17, 1)*min(s0 floordiv 65, 1) - ((s0 + 7) floordiv 16)*min(s0 floordiv 17, 1) - ((s0 + 15) floordiv 32)*min(s0 floordiv 17, 1) + s0 ceildiv 8,
                   scratch = 0,
                   reads = [#sym.expr<96*min(s0 floordiv 17, 1)*min(s0 floordiv 65, 1) + 24*min(s0 floordiv 17, 1) + 8>],
                   writes = [#sym.expr<96*min(s0 floordiv 17, 1)*min(s0 floordiv 65, 1) + 24*min(s0 floordiv 17, 1) + 8>]>

tile.program @map symbols [s0](%x: !v) -> (!v) attributes {plan = #plan} {
  %y = tile.compute [s0] [parallel] ins(%x : affine_map<(d0) -> (d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  tile.return %y : !v
}

// Contractions among variants differ in sizes alone, and share a function that takes those of the run.
// CHECK-LABEL: module @products
// CHECK-NOT:     @products.1(
// CHECK:         func.func @products.contraction(
// CHECK:         func.func @products.0(
// CHECK:         func.func @products(
// CHECK:           call @products.0(
// CHECK:           call @products.contraction(
// CHECK:           call @products.contraction(
!a = !graph.tensor<[s0, s2], f32>
!b = !graph.tensor<[s1, s2], f32>
!c = !graph.tensor<[s0, s1], f32>
#products = #tile.plan<#tile.choice<[<size = s1, most = 4, tiling = #tile.rows<row_loops = 2, rows = 1, run_loops = [1], lanes = [16], accumulators = [8], block_rows = 4, block_columns = 4>>,
                                        <size = s0, most = 64, tiling = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 4>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 4, body = [
      #tile.blocks<axis = 3, step = 64, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>>],
                                       otherwise = #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, body = [
      #tile.blocks<axis = 1, step = 14, dealt = true, share = <elements = 4096, most_rows = 28, least_tiles = 4>, body = [
      #tile.blocks<axis = 2, step = 32, dealt = true, together = 4, body = [
      #tile.blocks<axis = 3, step = 256, unit = 16, dealt = false, body = [#tile.packed<compute = 0, input = 0>,
      #tile.blocks<axis = 2, step = 32, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>>,
                       tiles = -(s1 ceildiv 32)*(s0 ceildiv (14*min((s0*(s1 ceildiv 32)) floordiv 56, 292 floordiv (min(s2, 32) + 32), 1024 floordiv (min(s1, 992) + 32)) + 14))*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) + (s1 ceildiv 32)*(s0 ceildiv (14*min((s0*(s1 ceildiv 32)) floordiv 56, 292 floordiv (min(s2, 224) + 32), 1024 floordiv (min(s1, 992) + 32)) + 14))*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) - (s0 ceildiv 4)*(s1 ceildiv 4)*min(s1 floordiv 5, 1) + (s1 ceildiv 32)*(s0 ceildiv (14*min((s0*(s1 ceildiv 32)) floordiv 56, 292 floordiv (min(s2, 32) + 32), 1024 floordiv (min(s1, 992) + 32)) + 14))*min(s1 floordiv 5, 1) + (s0 ceildiv 4)*(s1 ceildiv 4), scratch = -64*(min(s0*s2 + s0*min(s2, 48) + 16*s0 + 14*s2 + 672, s0*s2 + s0*min(s2, 48) + 16*s0 + 28*s2, 4768) ceildiv 16)*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) + 64*(min(s0*s2 + s0*min(s2, 240) + 16*s0 + 14*s2 + 3360, s0*s2 + s0*min(s2, 240) + 16*s0 + 28*s2, 7456) ceildiv 16)*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) - 64*(min(s1*s2 + s1*min(s2, 48) + 16*s1 + 32*s2 + 1536, s1*s2 + s1*min(s2, 48) + 16*s1 + 64*s2, 1536) ceildiv 16)*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) + 64*(min(s1*s2 + s1*min(s2, 240) + 16*s1 + 32*s2 + 7680, s1*s2 + s1*min(s2, 240) + 16*s1 + 64*s2, 7680) ceildiv 16)*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) + 64*(min(s0*s1 + 32*s0 + 14*s1 + 2880*s2, 2880*((255*s2 - 255) ceildiv 256) + s0*s1 + 32*s0 + 14*s1 + 2880, 2880*((255*s2 - 255) ceildiv 256) + 9856, 2880*s2 + 4096) ceildiv 16)*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) - 64*(min(s0*s1 + 32*s0 + 14*s1 + 7488*s2, 7488*((63*s2 - 63) ceildiv 64) + s0*s1 + 32*s0 + 14*s1 + 7488, 7488*((63*s2 - 63) ceildiv 64) + 19072, 7488*s2 + 4096) ceildiv 16)*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) + 29952*min(s2, (63*s2 - 63) ceildiv 64 + 1)*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) - 11520*min(s2, (255*s2 - 255) ceildiv 256 + 1)*min(s0 floordiv 65, 1)*min(s1 floordiv 5, 1) + 64*(min(s0*s2 + s0*min(s2, 48) + 16*s0 + 14*s2 + 672, s0*s2 + s0*min(s2, 48) + 16*s0 + 28*s2, 4768) ceildiv 16)*min(s1 floordiv 5, 1) + 64*(min(s1*s2 + s1*min(s2, 48) + 16*s1 + 32*s2 + 1536, s1*s2 + s1*min(s2, 48) + 16*s1 + 64*s2, 1536) ceildiv 16)*min(s1 floordiv 5, 1) + 64*(min(s0*s1 + 32*s0 + 14*s1 + 7488*s2, 7488*((63*s2 - 63) ceildiv 64) + s0*s1 + 32*s0 + 14*s1 + 7488, 7488*((63*s2 - 63) ceildiv 64) + 19072, 7488*s2 + 4096) ceildiv 16)*min(s1 floordiv 5, 1) - 29952*min(s2, (63*s2 - 63) ceildiv 64 + 1)*min(s1 floordiv 5, 1) + 5632*min(s1 floordiv 5, 1), reads = [unit, unit], writes = [unit]>
tile.program @products symbols [s0, s1, s2](%x: !a, %w: !b) -> (!c) attributes {plan = #products} {
  %0 = tile.compute [s0, s1, s2] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d1, d2)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!a, !b) -> !c
  tile.return %0 : !c
}
