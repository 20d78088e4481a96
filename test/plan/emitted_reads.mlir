// Rows of a table: the row is loaded and checked once, before its columns, which are neighbours in memory.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK:         scf.if
// CHECK:           memref.load {{.*}} : memref<?xi64>
// CHECK:           llvm.store
// CHECK:           scf.for
// CHECK-NOT:         memref<?xi64>
// CHECK-NOT:         llvm.store
// CHECK:             vector.load {{.*}} : memref<?xf32>, vector<16xf32>
// CHECK:             vector.store
// CHECK:           vector.maskedload
// CHECK-NOT:     vector.gather
tile.program @rows symbols [s0, s1, s2](%table: !graph.tensor<[s0, s1], f32>, %rows: !graph.tensor<[s2], i64>)
    -> (!graph.tensor<[s2, s1], f32>)
    attributes {plan = #tile.plan<#tile.map<rows = 1, columns = s1, lanes = 16, vectors = 1>, tiles = s2, scratch = 0,
                                   reads = [unit, #sym.expr<1>], writes = [#sym.expr<s1>]>} {
  %y = tile.compute [s2, s1] [parallel, parallel] ins(%rows : affine_map<(d0, d1) -> (d0)>) reads(%table) {
  ^bb0(%r: i64, %t: !graph.tensor<[s0, s1], f32>):
    %row = arith.index_cast %r : i64 to index
    %column = tile.index 1 : index
    %size = tile.size s0 : index
    %inside = arith.cmpi ult, %row, %size : index
    tile.check %inside, "no such row"
    %e = tile.read %t[%row, %column] : !graph.tensor<[s0, s1], f32> -> f32
    tile.yield %e : f32
  } : (!graph.tensor<[s2], i64>, !graph.tensor<[s0, s1], f32>) -> !graph.tensor<[s2, s1], f32>
  tile.return %y : !graph.tensor<[s2, s1], f32>
}
