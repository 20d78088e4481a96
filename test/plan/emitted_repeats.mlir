// Operands indexed by the columns modulo a divisor of the lanes repeat from vector to vector: they are loaded once a row.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s

#pair = affine_map<(d0, d1) -> (d0, d1 mod 2)>
#third = affine_map<(d0, d1) -> (d0, d1 mod 3)>
#row = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @pairs
// CHECK:         %[[PAIRS:.*]] = vector.gather
// CHECK:         scf.for
// CHECK-NOT:       vector.gather
// CHECK:           arith.addf {{.*}}%[[PAIRS]]
// CHECK-NOT:       vector.gather
// CHECK-LABEL: func.func @thirds
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             vector.gather
tile.program @pairs symbols [s0](%x: !graph.tensor<[s0, 2], f32>, %y: !graph.tensor<[s0, 448], f32>) -> (!graph.tensor<[s0, 448], f32>)
    attributes {plan = #tile.plan<#tile.map<rows = 4, columns = 448, lanes = 16, vectors = 1>, tiles = s0 ceildiv 4, scratch = 0,
                                   reads = [#sym.expr<8>, #sym.expr<1792>], writes = [#sym.expr<1792>]>} {
  %z = tile.compute [s0, 448] [parallel, parallel] ins(%x : #pair, %y : #row) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 2], f32>, !graph.tensor<[s0, 448], f32>) -> !graph.tensor<[s0, 448], f32>
  tile.return %z : !graph.tensor<[s0, 448], f32>
}

// No divisor of the lanes.
tile.program @thirds symbols [s0](%x: !graph.tensor<[s0, 3], f32>, %y: !graph.tensor<[s0, 448], f32>) -> (!graph.tensor<[s0, 448], f32>)
    attributes {plan = #tile.plan<#tile.map<rows = 4, columns = 448, lanes = 16, vectors = 1>, tiles = s0 ceildiv 4, scratch = 0,
                                   reads = [#sym.expr<12>, #sym.expr<1792>], writes = [#sym.expr<1792>]>} {
  %z = tile.compute [s0, 448] [parallel, parallel] ins(%x : #third, %y : #row) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, 3], f32>, !graph.tensor<[s0, 448], f32>) -> !graph.tensor<[s0, 448], f32>
  tile.return %z : !graph.tensor<[s0, 448], f32>
}
