// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers,canonicalize))' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-to-tile,tile-inline-producers{enable=false}))' \
// RUN:   | FileCheck %s --check-prefix=OFF

// A chain of elementwise operators with a broadcast becomes one body.
// CHECK-LABEL: func.func @chain
// CHECK:         tile.compute [m, n] [parallel, parallel] ins(%arg0 : #{{.*}}, %arg1 : #{{.*}}) {
// CHECK:           arith.addf
// CHECK:           math.tanh
// CHECK-NOT:     tile.compute
// OFF-LABEL:   func.func @chain
// OFF-COUNT-3:   tile.compute
func.func @chain(%x: !graph.tensor<[m, n], f32>, %bias: !graph.tensor<[n], f32>) -> !graph.tensor<[m, n], f32> {
  %b = graph.broadcast %bias dims [1] : !graph.tensor<[n], f32> -> !graph.tensor<[m, n], f32>
  %s = graph.binary add %x, %b : !graph.tensor<[m, n], f32>
  %t = graph.unary tanh %s : !graph.tensor<[m, n], f32>
  return %t : !graph.tensor<[m, n], f32>
}

// -----

// An expensive value with two uses is computed once.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-1: math.exp
// CHECK-NOT:     math.exp
func.func @shared(%x: !graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
  %e = graph.unary exp %x : !graph.tensor<[n], f32>
  %a = graph.binary add %e, %x : !graph.tensor<[n], f32>
  %b = graph.binary mul %e, %x : !graph.tensor<[n], f32>
  return %a, %b : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}

// -----

// Heads are read directly from the buffer of all heads, and written back in their order; the scale moves to the result.
// CHECK-DAG:   #[[QUERY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1 * 64 + d4)>
// CHECK-DAG:   #[[KEY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1 * 64 + d4 + 384)>
// CHECK-LABEL: func.func @heads
// CHECK-SAME:    tile.counters = {factored = 1 : i64
// CHECK:         %[[PRODUCT:.*]] = tile.compute [b, 6, s, s, 64]
// CHECK-SAME:      ins(%arg0 : #[[QUERY]], %arg0 : #[[KEY]])
// CHECK:         tile.compute [b, 6, s, s] {{.*}} ins(%[[PRODUCT]]
// CHECK:           arith.mulf %{{.*}}, %cst
func.func @heads(%x: !graph.tensor<[b, s, 768], f32>) -> !graph.tensor<[b, 6, s, s], f32> {
  %q0 = graph.slice %x starts [0, 0, 0] sizes [b, s, 384] steps [1, 1, 1] : !graph.tensor<[b, s, 768], f32>
  %k0 = graph.slice %x starts [0, 0, 384] sizes [b, s, 384] steps [1, 1, 1] : !graph.tensor<[b, s, 768], f32>
  %q1 = graph.reshape %q0 : !graph.tensor<[b, s, 384], f32> -> !graph.tensor<[b, s, 6, 64], f32>
  %k1 = graph.reshape %k0 : !graph.tensor<[b, s, 384], f32> -> !graph.tensor<[b, s, 6, 64], f32>
  %q2 = graph.transpose %q1 [0, 2, 1, 3] : !graph.tensor<[b, s, 6, 64], f32>
  %k2 = graph.transpose %k1 [0, 2, 1, 3] : !graph.tensor<[b, s, 6, 64], f32>
  %k3 = graph.reshape %k2 : !graph.tensor<[b, 6, s, 64], f32> -> !graph.tensor<[6*b, s, 64], f32>
  %k4 = graph.transpose %k3 [0, 2, 1] : !graph.tensor<[6*b, s, 64], f32>
  %k5 = graph.reshape %k4 : !graph.tensor<[6*b, 64, s], f32> -> !graph.tensor<[b, 6, 64, s], f32>
  %scale = graph.constant dense<0.125> : tensor<f32> -> !graph.tensor<[b, 6, s, 64], f32>
  %q3 = graph.binary mul %q2, %scale : !graph.tensor<[b, 6, s, 64], f32>
  %z = graph.contract %q3, %k5 batch [0, 1] x [0, 1] contract [3] x [2] : !graph.tensor<[b, 6, s, 64], f32>, !graph.tensor<[b, 6, 64, s], f32>
  return %z : !graph.tensor<[b, 6, s, s], f32>
}

// -----

// The transposition of a product, before heads are merged, becomes the order of the product's loops.
// CHECK-LABEL: func.func @merge
// CHECK-SAME:    permuted = 1
// CHECK:         %[[PRODUCT:.*]] = tile.compute [b, s, 6, 64, t] [parallel, parallel, parallel, parallel, reduction]
// CHECK:         %[[MERGED:.*]] = graph.reshape %[[PRODUCT]]
// CHECK:         tile.compute [b, s, 384, 384] {{.*}} ins(%[[MERGED]]
func.func @merge(%p: !graph.tensor<[b, 6, s, t], f32>, %v: !graph.tensor<[b, 6, t, 64], f32>, %w: !graph.tensor<[384, 384], f32>)
    -> !graph.tensor<[b, s, 384], f32> {
  %o = graph.contract %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : !graph.tensor<[b, 6, s, t], f32>, !graph.tensor<[b, 6, t, 64], f32>
  %t = graph.transpose %o [0, 2, 1, 3] : !graph.tensor<[b, 6, s, 64], f32>
  %m = graph.reshape %t : !graph.tensor<[b, s, 6, 64], f32> -> !graph.tensor<[b, s, 384], f32>
  %z = graph.contract %m, %w batch [] x [] contract [2] x [0] : !graph.tensor<[b, s, 384], f32>, !graph.tensor<[384, 384], f32>
  return %z : !graph.tensor<[b, s, 384], f32>
}

// -----

// Work on weights that can be done once is not inlined.
// CHECK-LABEL: func.func @folded
// CHECK:         tile.compute [32]
// CHECK:           math.rsqrt
// CHECK:         tile.compute [n, 32]
// CHECK-NOT:       math.rsqrt
func.func @folded(%x: !graph.tensor<[n, 32], f32>) -> !graph.tensor<[n, 32], f32> {
  %w = graph.weight "variance" : !graph.tensor<[32], f32>
  %r = graph.unary rsqrt %w : !graph.tensor<[32], f32>
  %b = graph.broadcast %r dims [1] : !graph.tensor<[32], f32> -> !graph.tensor<[n, 32], f32>
  %y = graph.binary mul %x, %b : !graph.tensor<[n, 32], f32>
  return %y : !graph.tensor<[n, 32], f32>
}

// -----

// A sum that does not depend on columns is computed once a row.
// CHECK-LABEL: func.func @repeated
// CHECK:         %[[ONCE:.*]] = tile.compute [m, k] [parallel, reduction]
// CHECK:         tile.compute [m, n] [parallel, parallel] ins(%[[ONCE]] : #{{.*}})
func.func @repeated(%x: !graph.tensor<[m, k], f32>) -> !graph.tensor<[m, n], f32> {
  %w = graph.constant dense<0.02> : tensor<f32> -> !graph.tensor<[k, n], f32>
  %p = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[m, k], f32>, !graph.tensor<[k, n], f32>
  return %p : !graph.tensor<[m, n], f32>
}

// -----

// A map of one tensor that is in memory anyway is not stored: all consumers read that tensor.
// CHECK-LABEL: func.func @view
// CHECK-COUNT-2: tile.compute
// CHECK-NOT:     tile.compute
// CHECK:         return
func.func @view(%x: !graph.tensor<[m, 384], f32>, %mean: !graph.tensor<[m], f32>) -> (!graph.tensor<[m, 384], f32>, !graph.tensor<[m], f32>) {
  %b = graph.broadcast %mean dims [0] : !graph.tensor<[m], f32> -> !graph.tensor<[m, 384], f32>
  %centered = graph.binary sub %x, %b : !graph.tensor<[m, 384], f32>
  %a = graph.unary tanh %centered : !graph.tensor<[m, 384], f32>
  %y = graph.binary mul %a, %x : !graph.tensor<[m, 384], f32>
  %s = graph.reduce add %centered axes [1] : !graph.tensor<[m, 384], f32>
  return %y, %s : !graph.tensor<[m, 384], f32>, !graph.tensor<[m], f32>
}

// -----

// The same for an epilogue whose result would wait in memory for other maps: even an erf is recomputed, instead of
// stored beside the biased sum and two results.
// CHECK-LABEL: func.func @derivative
// CHECK:         tile.compute [m, n, k]
// CHECK-NOT:     math.erf
// CHECK:         tile.compute [m, n]
// CHECK:           math.erf
// CHECK:         tile.compute [m, n]
// CHECK:           math.erf
// CHECK-NOT:     tile.compute
func.func @derivative(%x: !graph.tensor<[m, k], f32>, %w: !graph.tensor<[k, n], f32>, %bias: !graph.tensor<[n], f32>, %g: !graph.tensor<[m, n], f32>)
    -> (!graph.tensor<[m, n], f32>, !graph.tensor<[m, n], f32>) {
  %p = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[m, k], f32>, !graph.tensor<[k, n], f32>
  %b = graph.broadcast %bias dims [1] : !graph.tensor<[n], f32> -> !graph.tensor<[m, n], f32>
  %h = graph.binary add %p, %b : !graph.tensor<[m, n], f32>
  %e = graph.unary erf %h : !graph.tensor<[m, n], f32>
  %y = graph.binary mul %e, %h : !graph.tensor<[m, n], f32>
  %d = graph.binary mul %e, %g : !graph.tensor<[m, n], f32>
  return %y, %d : !graph.tensor<[m, n], f32>, !graph.tensor<[m, n], f32>
}

// -----

// A gradient is computed in the order of its weight.
// CHECK-LABEL: func.func @transposed_sum
// CHECK-SAME:    permuted = 1
// CHECK:         %[[SUM:.*]] = tile.compute [n, m, k] [parallel, parallel, reduction]
// CHECK:         tile.compute [n, m] [parallel, parallel] ins(%[[SUM]] : #{{.*}})
// CHECK:         tile.compute [n, m] [parallel, reduction] ins(%[[SUM]] : #{{.*}})
func.func @transposed_sum(%x: !graph.tensor<[k, m], f32>, %g: !graph.tensor<[k, n], f32>) -> (!graph.tensor<[n, m], f32>, !graph.tensor<[], f32>) {
  %p = graph.contract %x, %g batch [] x [] contract [0] x [0] : !graph.tensor<[k, m], f32>, !graph.tensor<[k, n], f32>
  %t = graph.transpose %p [1, 0] : !graph.tensor<[m, n], f32>
  %e = graph.unary exp %t : !graph.tensor<[n, m], f32>
  %s = graph.reduce add %t axes [0, 1] : !graph.tensor<[n, m], f32>
  return %e, %s : !graph.tensor<[n, m], f32>, !graph.tensor<[], f32>
}

// -----

// A reduction keeps its contiguous reads; its results, which are smaller, are transposed.
// CHECK-LABEL: func.func @transposed_reduction
// CHECK-NOT:     permuted
// CHECK:         %[[SUM:.*]] = tile.compute [m, n, k] [parallel, parallel, reduction]
// CHECK:         tile.compute [n, m] [parallel, parallel] ins(%[[SUM]] : #{{.*}})
func.func @transposed_reduction(%x: !graph.tensor<[m, k, n], f32>) -> !graph.tensor<[n, m], f32> {
  %s = graph.reduce add %x axes [1] : !graph.tensor<[m, k, n], f32>
  %t = graph.transpose %s [1, 0] : !graph.tensor<[m, n], f32>
  return %t : !graph.tensor<[n, m], f32>
}

// -----

// Reads that are contiguous along the reduction alone: the loops are permuted.
// CHECK-LABEL: func.func @permuted_reduction
// CHECK-SAME:    permuted = 1
// CHECK:         tile.compute [n, m, k] [parallel, parallel, reduction]
func.func @permuted_reduction(%x: !graph.tensor<[m, n, k], f32>) -> !graph.tensor<[n, m], f32> {
  %s = graph.reduce add %x axes [2] : !graph.tensor<[m, n, k], f32>
  %t = graph.transpose %s [1, 0] : !graph.tensor<[m, n], f32>
  return %t : !graph.tensor<[n, m], f32>
}

// -----

// A gather keeps the contiguous reads of its rows.
// CHECK-LABEL: func.func @transposed_rows
// CHECK-NOT:     permuted
// CHECK:         %[[ROWS:.*]] = tile.compute [m, 64] [parallel, parallel] ins({{.*}}) reads(
// CHECK:         tile.compute [64, m] [parallel, parallel] ins(%[[ROWS]] : #{{.*}})
func.func @transposed_rows(%x: !graph.tensor<[n, 64], f32>, %i: !graph.tensor<[m], i64>) -> !graph.tensor<[64, m], f32> {
  %g = graph.gather %x, %i axis 0 batch_dims 0 : !graph.tensor<[n, 64], f32>, !graph.tensor<[m], i64>
  %t = graph.transpose %g [1, 0] : !graph.tensor<[m, 64], f32>
  return %t : !graph.tensor<[64, m], f32>
}

// -----

// A table that is itself read from a table at constant pieces needs no memory.
// CHECK-LABEL: func.func @padded_twice
// CHECK:         tile.compute [5, 7] [parallel, parallel] reads(%arg0)
// CHECK:           tile.read %{{.*}} : <[3, 5], f32> -> f32
// CHECK-NOT:     tile.compute
func.func @padded_twice(%x: !graph.tensor<[3, 5], f32>) -> !graph.tensor<[5, 7], f32> {
  %rows = graph.constant dense<[1, 0, 1, 2, 1]> : tensor<5xi64> -> <[5], i64>
  %columns = graph.constant dense<[1, 0, 1, 2, 3, 4, 3]> : tensor<7xi64> -> <[7], i64>
  %y = graph.gather %x, %rows axis 0 batch_dims 0 : !graph.tensor<[3, 5], f32>, !graph.tensor<[5], i64>
  %z = graph.gather %y, %columns axis 1 batch_dims 0 : !graph.tensor<[5, 5], f32>, !graph.tensor<[7], i64>
  return %z : !graph.tensor<[5, 7], f32>
}

// -----

// A transposition takes all of its operand: the loops of a gather do not become those of a part of its result.
// CHECK-LABEL: func.func @part_of_a_transposition
// CHECK:         return %{{.*}} : !graph.tensor<[4, 3, 1], f32>
func.func @part_of_a_transposition(%x: !graph.tensor<[5, 1, 65], f32>) -> !graph.tensor<[4, 3, 1], f32> {
  %i = graph.constant dense<[38, 64, 33, 40]> : tensor<4xi64> -> <[4], i64>
  %g = graph.gather %x, %i axis 2 batch_dims 0 : <[5, 1, 65], f32>, <[4], i64>
  %t = graph.transpose %g [2, 0, 1] : <[5, 1, 4], f32>
  %p = graph.slice %t starts [0, 0, 0] sizes [4, 3, 1] steps [1, 1, 1] : <[4, 5, 1], f32>
  return %p : !graph.tensor<[4, 3, 1], f32>
}

// -----

// Heads share keys: a contraction reads those of its group, without copies of them.
// CHECK:       #[[KEYS:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 floordiv 3, d3, d4)>
// CHECK-LABEL: func.func @shared
// CHECK:         tile.compute [b, 6, m, n, d] {{.*}} %arg1 : #[[KEYS]])
// CHECK-NOT:     tile.compute
func.func @shared(%q: !graph.tensor<[b, 6, m, d], f32>, %k: !graph.tensor<[b, 2, n, d], f32>) -> !graph.tensor<[b, 6, m, n], f32> {
  %each = graph.broadcast %k dims [0, 1, 3, 4] : !graph.tensor<[b, 2, n, d], f32> -> !graph.tensor<[b, 2, 3, n, d], f32>
  %keys = graph.reshape %each : !graph.tensor<[b, 2, 3, n, d], f32> -> !graph.tensor<[b, 6, n, d], f32>
  %s = graph.contract %q, %keys batch [0, 1] x [0, 1] contract [3] x [3] : !graph.tensor<[b, 6, m, d], f32>, !graph.tensor<[b, 6, n, d], f32>
  return %s : !graph.tensor<[b, 6, m, n], f32>
}

// -----

// The weight gradient of a depthwise convolution reads pictures with padding as they are, though images and channels are
// exchanged and merged.
// CHECK:       #[[PICTURE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, 0, d1 + d4 - 1, d2 + d5 - 1)>
// CHECK-LABEL: func.func @exchanged
// CHECK:         %[[X:.*]] = graph.reshape %arg0
// CHECK:         tile.compute [96, 3, 3, n, 56, 56] {{.*}} ins(%[[X]] : #[[PICTURE]], %arg1 : {{.*}}) fill
func.func @exchanged(%x: !graph.tensor<[n, 96, 56, 56], f32>, %g: !graph.tensor<[96, n, 56, 56], f32>) -> !graph.tensor<[1, 96, 3, 3], f32> {
  %split = graph.reshape %x : !graph.tensor<[n, 96, 56, 56], f32> -> !graph.tensor<[n, 96, 1, 56, 56], f32>
  %turned = graph.transpose %split [2, 1, 0, 3, 4] : !graph.tensor<[n, 96, 1, 56, 56], f32>
  %merged = graph.reshape %turned : !graph.tensor<[1, 96, n, 56, 56], f32> -> !graph.tensor<[1, 96*n, 56, 56], f32>
  %y = graph.convolve %merged, %g strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 96
       : !graph.tensor<[1, 96*n, 56, 56], f32>, !graph.tensor<[96, n, 56, 56], f32>
  return %y : !graph.tensor<[1, 96, 3, 3], f32>
}

// -----

// Where pictures have one element, all places but one are padding.
// CHECK:       #[[PLACE:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, 0, d1 - 1, d2 - 1)>
// CHECK-LABEL: func.func @exchanged_places
// CHECK:         tile.compute [8, 3, 3, n] {{.*}} ins({{.*}} : #[[PLACE]], {{.*}}) fill
func.func @exchanged_places(%x: !graph.tensor<[n, 8, 1, 1], f32>, %g: !graph.tensor<[8, n, 1, 1], f32>) -> !graph.tensor<[1, 8, 3, 3], f32> {
  %split = graph.reshape %x : !graph.tensor<[n, 8, 1, 1], f32> -> !graph.tensor<[n, 8, 1, 1, 1], f32>
  %turned = graph.transpose %split [2, 1, 0, 3, 4] : !graph.tensor<[n, 8, 1, 1, 1], f32>
  %merged = graph.reshape %turned : !graph.tensor<[1, 8, n, 1, 1], f32> -> !graph.tensor<[1, 8*n, 1, 1], f32>
  %y = graph.convolve %merged, %g strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 8
       : !graph.tensor<[1, 8*n, 1, 1], f32>, !graph.tensor<[8, n, 1, 1], f32>
  return %y : !graph.tensor<[1, 8, 3, 3], f32>
}

// -----

// Pictures with channels inside are turned once, since windows are read along memory; a reshape that changes what lies
// outside is not seen through.
// CHECK-LABEL: func.func @channels_inside
// CHECK-COUNT-2: tile.compute
// CHECK-LABEL: func.func @outside_changes
// CHECK-COUNT-2: tile.compute
func.func @channels_inside(%x: !graph.tensor<[n, 8, 8, 3], f32>, %w: !graph.tensor<[4, 3, 3, 3], f32>) -> !graph.tensor<[n, 4, 8, 8], f32> {
  %turned = graph.transpose %x [0, 3, 1, 2] : !graph.tensor<[n, 8, 8, 3], f32>
  %y = graph.convolve %turned, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
       : !graph.tensor<[n, 3, 8, 8], f32>, !graph.tensor<[4, 3, 3, 3], f32>
  return %y : !graph.tensor<[n, 4, 8, 8], f32>
}
func.func @outside_changes(%x: !graph.tensor<[3, n, 64], f32>, %w: !graph.tensor<[4, 3, 3, 3], f32>) -> !graph.tensor<[n, 4, 8, 8], f32> {
  %turned = graph.transpose %x [1, 0, 2] : !graph.tensor<[3, n, 64], f32>
  %split = graph.reshape %turned : !graph.tensor<[n, 3, 64], f32> -> !graph.tensor<[n, 3, 8, 8], f32>
  %y = graph.convolve %split, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
       : !graph.tensor<[n, 3, 8, 8], f32>, !graph.tensor<[4, 3, 3, 3], f32>
  return %y : !graph.tensor<[n, 4, 8, 8], f32>
}

// -----

// Sums without rows or columns, which are not packed, read what they read again along memory: the picture of a depthwise
// convolution is turned once. What they read once is not turned.
// CHECK-LABEL: func.func @turned_picture
// CHECK:         %[[TURNED:.*]] = tile.compute [n, 24, h, w] {{.*}} ins(%arg0
// CHECK:         tile.compute [n, 24, h - 2, w - 2, 1, 3, 3] {{.*}} ins(%[[TURNED]]
// CHECK-LABEL: func.func @turned_matrix
// CHECK-COUNT-1: tile.compute
// CHECK-NOT:     tile.compute
func.func @turned_picture(%x: !graph.tensor<[n, h, w, 24], f32>, %w: !graph.tensor<[24, 1, 3, 3], f32>)
    -> !graph.tensor<[n, 24, h - 2, w - 2], f32> {
  %turned = graph.transpose %x [0, 3, 1, 2] : !graph.tensor<[n, h, w, 24], f32>
  %y = graph.convolve %turned, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 24
       : !graph.tensor<[n, 24, h, w], f32>, !graph.tensor<[24, 1, 3, 3], f32>
  return %y : !graph.tensor<[n, 24, h - 2, w - 2], f32>
}
func.func @turned_matrix(%x: !graph.tensor<[k, m], f32>, %v: !graph.tensor<[k], f32>) -> !graph.tensor<[m], f32> {
  %turned = graph.transpose %x [1, 0] : !graph.tensor<[k, m], f32>
  %y = graph.contract %turned, %v batch [] x [] contract [1] x [0] : !graph.tensor<[m, k], f32>, !graph.tensor<[k], f32>
  return %y : !graph.tensor<[m], f32>
}

// -----

// A transposition of what windows give stays one, since their pixels are read along memory; that of a convolution of many
// channels becomes the order of its loops.
// CHECK-LABEL: func.func @transposed_windows
// CHECK-NOT:     permuted = 1
// CHECK:         %[[WINDOWS:.*]] = tile.compute [n, 24, h, w, 1, 7, 7]
// CHECK:         tile.compute [n, h, w, 24] [parallel, parallel, parallel, parallel] ins(%[[WINDOWS]]
// CHECK-LABEL: func.func @transposed_channels
// CHECK-SAME:    permuted = 1
// CHECK:         tile.compute [n, h, w, 64, 24, 3, 3]
// CHECK-NOT:     tile.compute
func.func @transposed_windows(%x: !graph.tensor<[n, 24, h, w], f32>, %w: !graph.tensor<[24, 1, 7, 7], f32>) -> !graph.tensor<[n, h, w, 24], f32> {
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [3, 3] high [3, 3] groups 24
       : !graph.tensor<[n, 24, h, w], f32>, !graph.tensor<[24, 1, 7, 7], f32>
  %z = graph.transpose %y [0, 2, 3, 1] : !graph.tensor<[n, 24, h, w], f32>
  return %z : !graph.tensor<[n, h, w, 24], f32>
}
func.func @transposed_channels(%x: !graph.tensor<[n, 24, h, w], f32>, %w: !graph.tensor<[64, 24, 3, 3], f32>) -> !graph.tensor<[n, h, w, 64], f32> {
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
       : !graph.tensor<[n, 24, h, w], f32>, !graph.tensor<[64, 24, 3, 3], f32>
  %z = graph.transpose %y [0, 2, 3, 1] : !graph.tensor<[n, 64, h, w], f32>
  return %z : !graph.tensor<[n, h, w, 64], f32>
}

// -----

// A sum whose elements are those of another one times what is equal for all of them is that sum, times this. Otherwise the
// factor stays.
// CHECK-LABEL: func.func @factors
// CHECK-SAME:    factored_sums = 1 : i64
// CHECK:         %[[SUM:.*]] = tile.compute [n, k] [parallel, reduction] ins(%arg0 : {{.*}}, %arg1 : {{.*}})
// CHECK:         tile.compute [n] [parallel] ins(%[[SUM]] : {{.*}}, %arg2 : {{.*}})
// CHECK-LABEL: func.func @second_factor
// CHECK-SAME:    factored_sums = 1 : i64
// CHECK:         %[[SUM:.*]] = tile.compute [n, k] [parallel, reduction]
// CHECK-NOT:     reduction
// CHECK:         tile.compute [n] [parallel] ins(%[[SUM]] : {{.*}}, %arg2 : {{.*}})
// CHECK-LABEL: func.func @factor_alone
// CHECK-NOT:     factored_sums
// CHECK:         tile.compute [n, k] [parallel, reduction] ins(%arg0 : {{.*}}, %arg1 : {{.*}})
// CHECK-NOT:     tile.compute
func.func @factors(%x: !graph.tensor<[n, k], f32>, %y: !graph.tensor<[n, k], f32>, %v: !graph.tensor<[n], f32>)
    -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
  %e = graph.unary exp %x : !graph.tensor<[n, k], f32>
  %p = graph.binary mul %e, %y : !graph.tensor<[n, k], f32>
  %s = graph.reduce add %p axes [1] : !graph.tensor<[n, k], f32>
  %w = graph.broadcast %v dims [0] : !graph.tensor<[n], f32> -> !graph.tensor<[n, k], f32>
  %f = graph.unary exp %x : !graph.tensor<[n, k], f32>
  %d = graph.binary mul %f, %w : !graph.tensor<[n, k], f32>
  %q = graph.binary mul %d, %y : !graph.tensor<[n, k], f32>
  %t = graph.reduce add %q axes [1] : !graph.tensor<[n, k], f32>
  return %s, %t : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}
func.func @second_factor(%x: !graph.tensor<[n, k], f32>, %y: !graph.tensor<[n, k], f32>, %v: !graph.tensor<[n], f32>, %u: !graph.tensor<[n], f32>)
    -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
  %r = graph.broadcast %u dims [0] : !graph.tensor<[n], f32> -> !graph.tensor<[n, k], f32>
  %z = graph.binary mul %y, %r : !graph.tensor<[n, k], f32>
  %p = graph.binary mul %x, %z : !graph.tensor<[n, k], f32>
  %s = graph.reduce add %p axes [1] : !graph.tensor<[n, k], f32>
  %w = graph.broadcast %v dims [0] : !graph.tensor<[n], f32> -> !graph.tensor<[n, k], f32>
  %d = graph.binary mul %x, %w : !graph.tensor<[n, k], f32>
  %q = graph.binary mul %d, %z : !graph.tensor<[n, k], f32>
  %t = graph.reduce add %q axes [1] : !graph.tensor<[n, k], f32>
  return %s, %t : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}
func.func @factor_alone(%x: !graph.tensor<[n, k], f32>, %v: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %e = graph.unary exp %x : !graph.tensor<[n, k], f32>
  %w = graph.broadcast %v dims [0] : !graph.tensor<[n], f32> -> !graph.tensor<[n, k], f32>
  %d = graph.binary mul %e, %w : !graph.tensor<[n, k], f32>
  %t = graph.reduce add %d axes [1] : !graph.tensor<[n, k], f32>
  return %t : !graph.tensor<[n], f32>
}

// -----

// Maps that make pieces of a row are computed by the segment that is their piece. Divisions of integers, which may trap out
// of bounds, are not; nor are pieces of short rows, which have no segments.
// CHECK-LABEL: func.func @pieces
// CHECK-SAME:    inlined = 3 : i64
// CHECK:         tile.compute [n, 64] {{.*}} fill [0.000000e+00 : f32, unit, 0.000000e+00 : f32]
// CHECK-NOT:     tile.compute
// CHECK-LABEL: func.func @quotients
// CHECK:         tile.compute [n, 32]
// CHECK:         tile.compute [n, 64]
// CHECK-LABEL: func.func @short_pieces
// CHECK:         tile.compute [n, 8]
// CHECK:         tile.compute [n, 16]
func.func @pieces(%x: !graph.tensor<[n, 32], f32>, %v: !graph.tensor<[n], f32>, %y: !graph.tensor<[n, 32], f32>)
    -> !graph.tensor<[n, 64], f32> {
  %w = graph.broadcast %v dims [0] : !graph.tensor<[n], f32> -> !graph.tensor<[n, 32], f32>
  %p = graph.binary mul %x, %w : !graph.tensor<[n, 32], f32>
  %z = graph.concat %p, %y axis 1 : !graph.tensor<[n, 32], f32>, !graph.tensor<[n, 32], f32>
  %q = graph.unary exp %z : !graph.tensor<[n, 64], f32>
  return %q : !graph.tensor<[n, 64], f32>
}
func.func @quotients(%x: !graph.tensor<[n, 32], i32>, %y: !graph.tensor<[n, 32], i32>) -> !graph.tensor<[n, 64], i32> {
  %p = graph.binary div %x, %y : !graph.tensor<[n, 32], i32>
  %z = graph.concat %p, %y axis 1 : !graph.tensor<[n, 32], i32>, !graph.tensor<[n, 32], i32>
  return %z : !graph.tensor<[n, 64], i32>
}
func.func @short_pieces(%x: !graph.tensor<[n, 8], f32>, %y: !graph.tensor<[n, 8], f32>) -> !graph.tensor<[n, 16], f32> {
  %p = graph.binary mul %x, %y : !graph.tensor<[n, 8], f32>
  %z = graph.concat %p, %y axis 1 : !graph.tensor<[n, 8], f32>, !graph.tensor<[n, 8], f32>
  return %z : !graph.tensor<[n, 16], f32>
}

// -----

// Beside a slice of channels, a picture's border lies outside of what is read, too: no slice is stored. Of a slice of columns
// it does not.
// CHECK-DAG:     #[[CHANNEL:.*]] = affine_map<(d0, d1, d2) -> (d0, 2, d1 - 1, d2 + 1)>
// CHECK-LABEL: func.func @padded_slices
// CHECK-NOT:     tile.compute
// CHECK:         tile.compute [n, 14, 14] {{.*}} ins(%arg0 : #[[CHANNEL]], %arg0 : {{.*}}) fill [0.000000e+00 : f32, 0.000000e+00 : f32]
// CHECK-NOT:     tile.compute
// CHECK-LABEL: func.func @cropped
// CHECK-COUNT-2: tile.compute
// OFF-LABEL:   func.func @padded_slices
// OFF-COUNT-4:   tile.compute
func.func @padded_slices(%x: !graph.tensor<[n, 4, 14, 14], f32>) -> !graph.tensor<[n, 14, 14], f32> {
  %zero = graph.constant dense<0.0> : tensor<f32> -> <[], f32>
  %a = graph.slice %x starts [0, 2, 0, 0] sizes [n, 1, 14, 14] steps [1, 1, 1, 1] : <[n, 4, 14, 14], f32>
  %b = graph.reshape %a : !graph.tensor<[n, 1, 14, 14], f32> -> !graph.tensor<[n, 14, 14], f32>
  %p = graph.pad %b, %zero low [0, 1, -1] high [0, -1, 1] interior [0, 0, 0] : !graph.tensor<[n, 14, 14], f32>, !graph.tensor<[], f32>
  %c = graph.slice %x starts [0, 1, 0, 0] sizes [n, 1, 14, 14] steps [1, 1, 1, 1] : <[n, 4, 14, 14], f32>
  %d = graph.reshape %c : !graph.tensor<[n, 1, 14, 14], f32> -> !graph.tensor<[n, 14, 14], f32>
  %q = graph.pad %d, %zero low [0, 0, 1] high [0, 0, -1] interior [0, 0, 0] : !graph.tensor<[n, 14, 14], f32>, !graph.tensor<[], f32>
  %y = graph.binary add %p, %q : !graph.tensor<[n, 14, 14], f32>
  return %y : !graph.tensor<[n, 14, 14], f32>
}
func.func @cropped(%x: !graph.tensor<[n, 14], f32>) -> !graph.tensor<[n, 12], f32> {
  %zero = graph.constant dense<0.0> : tensor<f32> -> <[], f32>
  %a = graph.slice %x starts [0, 2] sizes [n, 10] steps [1, 1] : <[n, 14], f32>
  %p = graph.pad %a, %zero low [0, 1] high [0, 1] interior [0, 0] : !graph.tensor<[n, 10], f32>, !graph.tensor<[], f32>
  return %p : !graph.tensor<[n, 12], f32>
}

// -----

// Words of a text whose channels lie inside are turned once for windows that overlap, which then read rows of a picture;
// windows one behind the other read each element once, where it lies.
// CHECK-LABEL: func.func @windows_of_words
// CHECK:         %[[TURNED:.*]] = tile.compute [n, 128, words]
// CHECK:         tile.compute [n, 100, words - 4, 128, 5] {{.*}} ins(%[[TURNED]]
// CHECK-LABEL: func.func @words_apart
// CHECK-COUNT-1: tile.compute
// CHECK-NOT:     tile.compute
// OFF-LABEL:   func.func @windows_of_words
func.func @windows_of_words(%x: !graph.tensor<[n, words, 128], f32>, %w: !graph.tensor<[100, 128, 5], f32>) -> !graph.tensor<[n, 100, words - 4], f32> {
  %turned = graph.transpose %x [0, 2, 1] : !graph.tensor<[n, words, 128], f32>
  %y = graph.convolve %turned, %w strides [1] dilations [1] operand_dilation [1] low [0] high [0] groups 1
       : !graph.tensor<[n, 128, words], f32>, !graph.tensor<[100, 128, 5], f32>
  return %y : !graph.tensor<[n, 100, words - 4], f32>
}
func.func @words_apart(%x: !graph.tensor<[n, 60, 128], f32>, %w: !graph.tensor<[100, 128, 5], f32>) -> !graph.tensor<[n, 100, 12], f32> {
  %turned = graph.transpose %x [0, 2, 1] : !graph.tensor<[n, 60, 128], f32>
  %y = graph.convolve %turned, %w strides [5] dilations [1] operand_dilation [1] low [0] high [0] groups 1
       : !graph.tensor<[n, 128, 60], f32>, !graph.tensor<[100, 128, 5], f32>
  return %y : !graph.tensor<[n, 100, 12], f32>
}

// -----

// Pictures of tokens whose channels lie inside are turned once as well, with what else exchanges their dimensions.
// CHECK-LABEL: func.func @pictures_of_tokens
// CHECK:         %[[TURNED:.*]] = tile.compute [256, 4, 56, 56]
// CHECK:         tile.compute [256, 4, 54, 54, 1, 3, 3] {{.*}} ins(%[[TURNED]]
// OFF-LABEL:   func.func @pictures_of_tokens
func.func @pictures_of_tokens(%x: !graph.tensor<[4, 3136, 256], f32>, %w: !graph.tensor<[4, 1, 3, 3], f32>) -> !graph.tensor<[256, 4, 54, 54], f32> {
  %turned = graph.transpose %x [0, 2, 1] : !graph.tensor<[4, 3136, 256], f32>
  %pictures = graph.reshape %turned : !graph.tensor<[4, 256, 3136], f32> -> !graph.tensor<[4, 256, 56, 56], f32>
  %exchanged = graph.transpose %pictures [1, 0, 2, 3] : !graph.tensor<[4, 256, 56, 56], f32>
  %y = graph.convolve %exchanged, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 4
       : !graph.tensor<[256, 4, 56, 56], f32>, !graph.tensor<[4, 1, 3, 3], f32>
  return %y : !graph.tensor<[256, 4, 54, 54], f32>
}
