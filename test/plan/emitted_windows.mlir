// The code of windows uses the plan's numbers: register blocks of channels, rows and vectors, tiles of pixels, and the
// size of the copy.
// RUN: freestone-opt %s --codegen-emit-programs | FileCheck %s
// RUN: sed -e 's/channels = 2, rows = 2, vectors = 1, lanes = 8/channels = 1, rows = 4, vectors = 2, lanes = 4/' %s \
// RUN:   | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=BLOCK
// RUN: sed -e 's/channels = 2, rows = 2, vectors = 1/channels = 1, rows = 4, vectors = 2/; s/scratch = 9088/scratch = 9216/' %s \
// RUN:   | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=SHORT
// RUN: sed -e 's/lanes = 8, pixels = 64/lanes = 16, pixels = 64/; s/scratch = 9088/scratch = 9216/' %s \
// RUN:   | freestone-opt --codegen-emit-programs | FileCheck %s --check-prefix=LANES
// RUN: sed -e 's/copy = 4096/copy = 512/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=COPY
// RUN: sed -e 's/pixels = 64/pixels = 8/' %s | not freestone-opt --codegen-emit-programs 2>&1 | FileCheck %s --check-prefix=PIXELS

// An iteration of the innermost loop reduces one tap: the picture is loaded once for all channels of a block.
// CHECK-LABEL: func.func @group
// CHECK:         scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-2: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-4: vector.fma {{.*}} : vector<8xf32>
// CHECK-NEXT:    scf.yield
// BLOCK-LABEL: func.func @group
// BLOCK:         scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// BLOCK-COUNT-8: vector.load {{.*}} vector<4xf32>
// BLOCK-COUNT-8: vector.fma {{.*}} : vector<4xf32>
// BLOCK-NEXT:    scf.yield
// No row has 16 pixels.
// SHORT-LABEL: func.func @group
// SHORT-NOT:     scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
// SHORT:         scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// SHORT-NOT:     scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
// LANES-LABEL: func.func @group
// LANES-NOT:     vector<8xf32>
// LANES:         scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// COPY:        whose tiles is not the one that follows from its tiling
// PIXELS:      whose tiles is not the one that follows from its tiling
tile.program @group symbols [n](%x: !graph.tensor<[n, 3, 20, 30], f32>, %k: !graph.tensor<[6, 3, 3, 3], f32>)
    -> (!graph.tensor<[n, 6, 20, 15], f32>)
    attributes {plan = #tile.plan<#tile.window<channels = 2, rows = 2, vectors = 1, lanes = 8, pixels = 64, copy = 4096>,
                                  tiles = n, scratch = 9088, reads = [#sym.expr<1800>, unit], writes = [#sym.expr<1800>]>} {
  %0 = tile.compute [n, 6, 20, 15, 3, 3, 3] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 1, d3 * 2 + d6 - 1)>,
          %k : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) fill [0.0 : f32, unit] init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[n, 3, 20, 30], f32>, !graph.tensor<[6, 3, 3, 3], f32>) -> !graph.tensor<[n, 6, 20, 15], f32>
  tile.return %0 : !graph.tensor<[n, 6, 20, 15], f32>
}
