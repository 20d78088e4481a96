// RUN: echo '// one more row' > %t && echo >> %t && echo 'map #tile.map<rows = 2, columns = 16, lanes = 8, vectors = 1>' >> %t
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 --tile-replace-tilings=tilings=%t | FileCheck %s
// RUN: echo 'nothing #tile.map<rows = 2, columns = 16, lanes = 8, vectors = 1>' > %t
// RUN: not freestone-opt %s --tile-replace-tilings=tilings=%t 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: echo 'map #tile.map<rows = 2' > %t
// RUN: not freestone-opt %s --tile-replace-tilings=tilings=%t 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: echo 'map #tile.tree<kernel = <rows = 6, vectors = 2, lanes = 8, unroll = 2>, body = [#tile.blocks<axis = 1, step = 6, dealt = true, share = <elements = 64, most_rows = 6, least_tiles = 1>, body = [#tile.blocks<axis = 2, step = 16, dealt = true, body = [#tile.blocks<axis = 3, step = 64, unit = 8, dealt = false, body = [#tile.packed<compute = 0, input = 0>, #tile.blocks<axis = 2, step = 16, dealt = false, body = [#tile.packed<compute = 0, input = 1>, #tile.multiply<compute = 0, columns = 2>]>]>]>]>]>' > %t
// RUN: not freestone-opt %s --tile-replace-tilings=tilings=%t 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not freestone-opt %s --tile-replace-tilings=tilings=%t/none 2>&1 | FileCheck %s --check-prefix=FILE
// NAME: there is no program 'nothing' to tile
// TEXT: can't be tiled as '#tile.map<rows = 2', which is no attribute
// FORM: can't be computed by its tree of tiles: a share of rows, tiles together, and strips are those of a single contraction
// FILE: can't read the tilings of

// Programs that the file does not name keep their plans.
// CHECK-LABEL: tile.program @map
// CHECK-SAME:    #tile.map<rows = 2, columns = 16, lanes = 8, vectors = 1>
// CHECK-LABEL: tile.program @other
// CHECK-SAME:    #tile.map<
// CHECK-NOT:     columns = 16,
tile.program @map symbols [s0, s1](%x: !graph.tensor<[s0, s1], f32>) -> (!graph.tensor<[s0, s1], f32>) {
  %z = tile.compute [s0, s1] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s1], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %z : !graph.tensor<[s0, s1], f32>
}
tile.program @other symbols [s0, s1](%x: !graph.tensor<[s0, s1], f32>) -> (!graph.tensor<[s0, s1], f32>) {
  %z = tile.compute [s0, s1] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s1], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %z : !graph.tensor<[s0, s1], f32>
}
