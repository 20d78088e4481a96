// Transpositions use the blocks of their plan: vectors are loaded along rows, transposed in registers and stored along
// columns, or interleaved before they are stored.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s
// RUN: sed -e 's/width = 8, lanes = 8/width = 4, lanes = 4/' %s | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=LANES
// RUN: sed -e 's/rows = 64, columns = 64/rows = 16, columns = 32/; s/(s0 ceildiv 64)\*(s1 ceildiv 64)/(s0 ceildiv 16)*(s1 ceildiv 32)/' %s \
// RUN:   | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=TILES

// A transposition of 8x8 is three rounds of 8 shuffles, for whole blocks and for masked ones.
// CHECK-LABEL:     func.func @transposed
// CHECK-COUNT-8:   vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-24:  vector.shuffle
// CHECK-COUNT-8:   vector.store {{.*}} vector<8xf32>
// CHECK:           } else {
// CHECK-COUNT-8:   vector.maskedload {{.*}} into vector<8xf32>
// CHECK-COUNT-24:  vector.shuffle
// CHECK-COUNT-8:   vector.maskedstore
// CHECK-NOT:       vector.gather
// LANES-LABEL:     func.func @transposed
// LANES-COUNT-4:   vector.load {{.*}} vector<4xf32>
// LANES-COUNT-8:   vector.shuffle
// LANES-COUNT-4:   vector.store {{.*}} vector<4xf32>
// TILES-LABEL:     func.func @transposed
// TILES-DAG:       arith.constant 16 : index
// TILES-DAG:       arith.constant 32 : index
// TILES-NOT:       arith.constant 64 : index
// TILES:           scf.for
tile.program @transposed symbols [s0, s1](%x: !graph.tensor<[s1, s0], f32>) -> (!graph.tensor<[s0, s1], f32>)
    attributes {plan = #tile.plan<#tile.transposition<across = 0, rows = 64, columns = 64, width = 8, lanes = 8>,
                                  tiles = (s0 ceildiv 64)*(s1 ceildiv 64), scratch = 0, reads = [unit], writes = [unit]>} {
  %y = tile.compute [s0, s1] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d1, d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[s1, s0], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %y : !graph.tensor<[s0, s1], f32>
}

// Three vectors of eight pixels are interleaved to eight pixels of three channels: two shuffles per vector.
// CHECK-LABEL:    func.func @interleaved
// CHECK-COUNT-3:  vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-6:  vector.shuffle
// CHECK-COUNT-3:  vector.store {{.*}} vector<8xf32>
// CHECK:          } else {
// CHECK-COUNT-3:  vector.maskedload
// CHECK-COUNT-3:  vector.maskedstore
tile.program @interleaved symbols [s0](%x: !graph.tensor<[3, s0], f32>) -> (!graph.tensor<[s0, 3], f32>)
    attributes {plan = #tile.plan<#tile.transposition<across = 0, rows = 512, columns = 3, width = 3, lanes = 8>,
                                  tiles = s0 ceildiv 512, scratch = 0, reads = [unit], writes = [unit]>} {
  %y = tile.compute [s0, 3] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d1, d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[3, s0], f32>) -> !graph.tensor<[s0, 3], f32>
  tile.return %y : !graph.tensor<[s0, 3], f32>
}
