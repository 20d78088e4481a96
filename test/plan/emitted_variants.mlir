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
#plan = #tile.plan<#tile.variants<[<size = s0, most = 16, tiling = #tile.map<rows = 1, columns = 8, lanes = 8, vectors = 1>>,
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
