// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse),tile-outline,tile-choose-tiles{target=x86-64-v4})' \
// RUN:   | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse),tile-outline,tile-choose-tiles{target=x86-64-v3})' \
// RUN:   | FileCheck %s --check-prefix=NARROW
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-decompose,graph-to-tile,tile-inline-producers,tile-fuse),tile-outline,tile-choose-tiles{target=x86-64-v4 skip-masked=false})' \
// RUN:   | FileCheck %s --check-prefix=WHOLE --implicit-check-not=masked_by

// An attention: axis 0 is the batch, 1 the rows and 2 the columns of the scores, 3 the depth, 4 the columns of values.
// A tile has several panels of rows, where there are enough tiles for all workers. The mask is contiguous along columns,
// while vectors run along rows: it is transposed, block by block. Blocks that it masks as a whole are left out. Packed keys and values are kept for the tiles of a head.
// CHECK:        tile.program @p0
// CHECK-SAME:     #tile.tree<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>,
// CHECK-SAME:     body = [#tile.blocks<axis = 0, step = 1, dealt = true,
// CHECK-SAME:       body = [#tile.blocks<axis = 1, step = 32*min((s0*(s1 ceildiv 32)) floordiv 32, {{[0-9]+}}) + 32, dealt = true,
// CHECK-SAME:         body = [#tile.packed<compute = 0, input = 0>, #tile.blocks<axis = 2, step = {{[0-9]+}}, dealt = false,
// CHECK-SAME:           body = [#tile.packed<compute = 0, input = 1, kept = 1>, #tile.packed<compute = [[SECOND:[0-9]+]], input = 1, kept = 1>,
// CHECK-SAME:                   #tile.blocks<axis = 1, step = 32, unit = 32, dealt = false,
// CHECK-SAME:             body = [#tile.multiply<compute = 0, columns = 1>, #tile.packed<compute = 1, input = 1>,
// CHECK-SAME:                     #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [1, 2, 3, 4], lanes = 1, along = 2>]>,
// CHECK-SAME:                     #tile.multiply<compute = [[SECOND]], columns = 4>], masked_by = 2>]>,
// CHECK-SAME:                 #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [5], lanes = 1, along = 4>]>,
// CHECK-SAME:                 #tile.vectors<axis = 4, lanes = 16, together = 2, body = [#tile.evaluate<computes = [7], lanes = 4, along = 1>]>]>]>]>
// WHOLE:        #tile.tree
// NARROW:       #tile.tree<kernel = <rows = 6, vectors = 2, lanes = 8, unroll = 2>
// NARROW-SAME:    #tile.blocks<axis = 1, step = 16, unit = 16, dealt = false
func.func @added(%q: !graph.tensor<[b, m, d], f32>, %k: !graph.tensor<[b, n, d], f32>, %v: !graph.tensor<[b, n, e], f32>,
                 %mask: !graph.tensor<[b, m, n], f32>) -> !graph.tensor<[b, m, e], f32> {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, m, d], f32>, !graph.tensor<[b, n, d], f32>
  %t = graph.binary add %s, %mask : !graph.tensor<[b, m, n], f32>
  %p = graph.softmax %t axis 2 : !graph.tensor<[b, m, n], f32>
  %o = graph.contract %p, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, n], f32>, !graph.tensor<[b, n, e], f32>
  return %o : !graph.tensor<[b, m, e], f32>
}

// -----

// Blocks of columns behind the diagonal are masked for all rows of a tile, and left out.
// CHECK:        tile.program @p0
// CHECK-SAME:     #tile.blocks<axis = 1, step = 32, unit = 32, dealt = false, body = [{{.*}}], masked_by = {{[0-9]+}}>
func.func @causal(%q: !graph.tensor<[b, n, d], f32>, %k: !graph.tensor<[b, n, d], f32>, %v: !graph.tensor<[b, n, e], f32>)
    -> !graph.tensor<[b, n, e], f32> {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, n, d], f32>, !graph.tensor<[b, n, d], f32>
  %i = graph.iota 0 : !graph.tensor<[n], i64>
  %row = graph.broadcast %i dims [0] : !graph.tensor<[n], i64> -> !graph.tensor<[n, n], i64>
  %column = graph.broadcast %i dims [1] : !graph.tensor<[n], i64> -> !graph.tensor<[n, n], i64>
  %seen = graph.compare le %column, %row : !graph.tensor<[n, n], i64>
  %all = graph.broadcast %seen dims [1, 2] : !graph.tensor<[n, n], i1> -> !graph.tensor<[b, n, n], i1>
  %lowest = graph.constant dense<0xFF800000> : tensor<f32> -> !graph.tensor<[b, n, n], f32>
  %t = graph.select %all, %s, %lowest : !graph.tensor<[b, n, n], i1>, !graph.tensor<[b, n, n], f32>
  %p = graph.softmax %t axis 2 : !graph.tensor<[b, n, n], f32>
  %o = graph.contract %p, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, n, n], f32>, !graph.tensor<[b, n, e], f32>
  return %o : !graph.tensor<[b, n, e], f32>
}
