// RUN: echo '// one more row' > %t && echo >> %t && echo 'map #tile.map<rows = 2, columns = 16, lanes = 8, vectors = 1>' >> %t
// RUN: freestone-opt %s --tile-choose-tiles=target=x86-64-v3 --tile-replace-tilings=tilings=%t | FileCheck %s
// RUN: echo 'nothing #tile.map<rows = 2, columns = 16, lanes = 8, vectors = 1>' > %t
// RUN: not freestone-opt %s --tile-replace-tilings=tilings=%t 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: echo 'map #tile.map<rows = 2' > %t
// RUN: not freestone-opt %s --tile-replace-tilings=tilings=%t 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: echo 'map #tile.contraction<kernel = <rows = 6, vectors = 2, lanes = 8, unroll = 2>, row_elements = 64, most_rows = 6, least_tiles = 1, panels = 1, depth = 64, depth_unit = 8, kept_rows = 0, kept_columns = 0, prefetch_rows = 8>' > %t
// RUN: not freestone-opt %s --tile-replace-tilings=tilings=%t 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not freestone-opt %s --tile-replace-tilings=tilings=%t/none 2>&1 | FileCheck %s --check-prefix=FILE
// NAME: there is no program 'nothing' to tile
// TEXT: can't be tiled as '#tile.map<rows = 2', which is no attribute
// FORM: is tiled as a contraction, but is none
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
