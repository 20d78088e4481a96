// A border of one column, the columns that are copied from a tensor, and what is left of them: nothing is compared.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s

// CHECK-LABEL: func.func @padded
// CHECK-NOT:     maskedload
// CHECK:         scf.for
// CHECK:           memref.store
// CHECK:         scf.for
// CHECK-NOT:       arith.cmpi
// CHECK:           vector.load {{.*}} : memref<?xf32>, vector<16xf32>
// CHECK:           vector.store
tile.program @padded symbols [s0](%x: !graph.tensor<[s0, 64], f32>) -> (!graph.tensor<[s0, 66], f32>)
    attributes {plan = #tile.plan<#tile.map<rows = 1, columns = 66, lanes = 16, vectors = 1, ends = [1, 65]>, tiles = s0,
                                   scratch = 0, reads = [#sym.expr<64>], writes = [#sym.expr<66>]>} {
  %y = tile.compute [s0, 66] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1 - 1)>) fill [1.0 : f32] {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[s0, 64], f32>) -> !graph.tensor<[s0, 66], f32>
  tile.return %y : !graph.tensor<[s0, 66], f32>
}
