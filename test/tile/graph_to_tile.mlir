// Every operator is lowered to loops over its result, with scalar arithmetic.
// RUN: freestone-opt %s --split-input-file --graph-to-tile | FileCheck %s

// CHECK-LABEL: func.func @elementwise
// CHECK:         tile.compute [n] [parallel] ins(%{{.*}} : #{{.*}}) {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32):
// CHECK:           %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      arith.addf %[[A]], %[[ONE]] : f32
func.func @elementwise(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %one = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[n], f32>
  %y = graph.binary add %x, %one : !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}

// -----

// Half precision is computed in f32 and rounded.
// CHECK-LABEL: func.func @half
// CHECK:         arith.extf %{{.*}} : bf16 to f32
// CHECK:         math.exp %{{.*}} : f32
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
func.func @half(%x: !graph.tensor<[n], bf16>) -> !graph.tensor<[n], bf16> {
  %y = graph.unary exp %x : !graph.tensor<[n], bf16>
  return %y : !graph.tensor<[n], bf16>
}

// -----

// Exponentials of which softmax takes shares need no subnormal numbers.
// CHECK-LABEL: func.func @shares
// CHECK:         math.exp %{{.*}} fastmath<afn> : f32
// CHECK:         math.exp %{{.*}} : f32
func.func @shares(%x: !graph.tensor<[n], f32>) -> (!graph.tensor<[n], f32>, !graph.tensor<[n], f32>) {
  %share = graph.unary exp %x {graph.share} : !graph.tensor<[n], f32>
  %y = graph.unary exp %x : !graph.tensor<[n], f32>
  return %share, %y : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
}

// -----

// Divisions by 0, and of the smallest number by -1, do not trap.
// CHECK-LABEL: func.func @divide
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG:     arith.cmpi eq, %{{.*}}, %[[ZERO]] : i32
// CHECK:         arith.divsi
// CHECK:         arith.select
func.func @divide(%x: !graph.tensor<[n], i32>, %y: !graph.tensor<[n], i32>) -> !graph.tensor<[n], i32> {
  %z = graph.binary div %x, %y : !graph.tensor<[n], i32>
  return %z : !graph.tensor<[n], i32>
}

// -----

// CHECK-DAG:   #[[LEFT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG:   #[[RIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-LABEL: func.func @contract
// CHECK:         tile.compute [b, m, n, k] [parallel, parallel, parallel, reduction] ins(%arg0 : #[[LEFT]], %arg1 : #[[RIGHT]]) init [0.000000e+00 : f32]
func.func @contract(%x: !graph.tensor<[b, m, k], f32>, %y: !graph.tensor<[b, k, n], f32>) -> !graph.tensor<[b, m, n], f32> {
  %z = graph.contract %x, %y batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, k], f32>, !graph.tensor<[b, k, n], f32>
  return %z : !graph.tensor<[b, m, n], f32>
}

// -----

// Without a sum there is no accumulator.
// CHECK-LABEL: func.func @outer_product
// CHECK:         tile.compute [m, n] [parallel, parallel] ins(%arg0 : #{{.*}}, %arg1 : #{{.*}}) {
// CHECK:           %[[PRODUCT:.*]] = arith.mulf
// CHECK-NEXT:      tile.yield %[[PRODUCT]]
func.func @outer_product(%x: !graph.tensor<[m], f32>, %y: !graph.tensor<[n], f32>) -> !graph.tensor<[m, n], f32> {
  %z = graph.contract %x, %y batch [] x [] contract [] x [] : !graph.tensor<[m], f32>, !graph.tensor<[n], f32>
  return %z : !graph.tensor<[m, n], f32>
}

// -----

// Out-of-bounds reads give the padding; groups are a loop of their own.
// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 4 + d5, d3 * 2 + d6 - 1, d4 * 2 + d7 - 1)>
// CHECK-DAG:   #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 8 + d2, d5, d6, d7)>
// CHECK-LABEL: func.func @convolve
// CHECK:         tile.compute [n, 2, 8, 4, 4, 4, 3, 3]
// CHECK-SAME:      ins(%arg0 : #[[IMAGE]], %arg1 : #[[KERNEL]]) fill [0.000000e+00 : f32, unit]
// CHECK:         graph.reshape
func.func @convolve(%x: !graph.tensor<[n, 8, 8, 8], f32>, %w: !graph.tensor<[16, 4, 3, 3], f32>) -> !graph.tensor<[n, 16, 4, 4], f32> {
  %y = graph.convolve %x, %w strides [2, 2] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 2
       : !graph.tensor<[n, 8, 8, 8], f32>, !graph.tensor<[16, 4, 3, 3], f32>
  return %y : !graph.tensor<[n, 16, 4, 4], f32>
}

// -----

// The one channel of each group is no loop.
// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5 - 1, d3 + d6 - 1)>
// CHECK-DAG:   #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// CHECK-LABEL: func.func @depthwise
// CHECK:         %[[Y:.*]] = tile.compute [n, 8, 8, 8, 1, 3, 3] {{.*}} ins(%arg0 : #[[IMAGE]], %arg1 : #[[KERNEL]])
// CHECK:         return %[[Y]]
func.func @depthwise(%x: !graph.tensor<[n, 8, 8, 8], f32>, %w: !graph.tensor<[8, 1, 3, 3], f32>) -> !graph.tensor<[n, 8, 8, 8], f32> {
  %y = graph.convolve %x, %w strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 8
       : !graph.tensor<[n, 8, 8, 8], f32>, !graph.tensor<[8, 1, 3, 3], f32>
  return %y : !graph.tensor<[n, 8, 8, 8], f32>
}

// -----

// Negative data-dependent indices count from the end; all are checked, and tile.read accesses no memory out of bounds.
// CHECK-LABEL: func.func @gather
// CHECK:         tile.compute [b, 16] [parallel, parallel] ins(%arg1 : #{{.*}}) reads(%arg0)
// CHECK:           %[[POSITION:.*]] = arith.select
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[POSITION]]
// CHECK:           tile.check %[[INSIDE]], "an index is outside of its axis"
// CHECK:           %[[COLUMN:.*]] = tile.index 1 : index
// CHECK:           tile.read %{{.*}}[%[[POSITION]], %[[COLUMN]]]
func.func @gather(%x: !graph.tensor<[v, 16], f32>, %i: !graph.tensor<[b], i64>) -> !graph.tensor<[b, 16], f32> {
  %y = graph.gather %x, %i axis 0 batch_dims 0 : !graph.tensor<[v, 16], f32>, !graph.tensor<[b], i64>
  return %y : !graph.tensor<[b, 16], f32>
}

// -----

// Constant indices in few pieces are computed and need no check; a single piece is an index map.
// CHECK-DAG:     #[[HALF:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 2)>
// CHECK-LABEL: func.func @pieces
// CHECK:         tile.compute [b, 6] [parallel, parallel] ins(%arg0 : #[[HALF]])
// CHECK:         tile.compute [b, 5] [parallel, parallel] reads(%arg0)
// CHECK:           %[[LAST:.*]] = arith.constant 2 : index
// CHECK:           %[[END:.*]] = arith.constant 4 : index
// CHECK:           %[[COLUMN:.*]] = tile.index 1 : index
// CHECK:           arith.cmpi slt, %[[COLUMN]], %[[END]]
// CHECK-NOT:       tile.check
// CHECK:           return
func.func @pieces(%x: !graph.tensor<[b, 3], f32>) -> (!graph.tensor<[b, 6], f32>, !graph.tensor<[b, 5], f32>) {
  %repeated = graph.constant dense<[0, 0, 1, 1, 2, 2]> : tensor<6xi64> -> <[6], i64>
  %edges = graph.constant dense<[0, 0, 1, 2, -1]> : tensor<5xi64> -> <[5], i64>
  %y = graph.gather %x, %repeated axis 1 batch_dims 0 : !graph.tensor<[b, 3], f32>, !graph.tensor<[6], i64>
  %z = graph.gather %x, %edges axis 1 batch_dims 0 : !graph.tensor<[b, 3], f32>, !graph.tensor<[5], i64>
  return %y, %z : !graph.tensor<[b, 6], f32>, !graph.tensor<[b, 5], f32>
}

// -----

// CHECK-LABEL: func.func @cumulate
// CHECK:         tile.opaque [n] ins(%arg0)
// CHECK:         ^bb0(%{{.*}}: index, %[[IN:.*]]: memref<?xf32>, %[[OUT:.*]]: memref<?xf32>):
// CHECK:           scf.for
// CHECK:             memref.load %[[IN]]
// CHECK:             memref.store %{{.*}}, %[[OUT]]
func.func @cumulate(%x: !graph.tensor<[n, m], f32>) -> !graph.tensor<[n, m], f32> {
  %y = graph.cumulate add %x axis 1 : !graph.tensor<[n, m], f32>
  return %y : !graph.tensor<[n, m], f32>
}

// -----

// One pass over a row; blocks of elements that all come after the ten best so far are skipped.
// CHECK-LABEL: func.func @top_k
// CHECK:         tile.opaque [n] ins(%arg0)
// CHECK:           %[[NEIGHBOURS:.*]] = vector.load %{{.*}} : memref<?xf32>, vector<32xf32>
// CHECK:           arith.cmpf olt, %{{.*}}, %[[NEIGHBOURS]] : vector<32xf32>
// CHECK:           vector.reduction <or>
// CHECK:           scf.if
// The rest of a rising row is divided into classes, whose best elements are found with vectors; the tenth of these is a
// threshold.
// CHECK:           scf.if
// CHECK:             arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK:           %[[REST:.*]] = vector.load %{{.*}} : memref<?xf32>, vector<32xf32>
// CHECK:           arith.cmpf olt, %[[REST]], %{{.*}} : vector<32xf32>
// CHECK:           arith.select {{.*}} : vector<32xi1>, vector<32xi1>
// CHECK:           vector.reduction <or>
// CHECK:         -> (!graph.tensor<[n, 10], f32>, !graph.tensor<[n, 10], i64>, !graph.tensor<[32], f32>, !graph.tensor<[32], i64>, !graph.tensor<[32], f32>)
func.func @top_k(%x: !graph.tensor<[n, m], f32>) -> (!graph.tensor<[n, 10], f32>, !graph.tensor<[n, 10], i64>) {
  %v, %i = graph.top_k %x axis 1 k <10> : !graph.tensor<[n, m], f32>
  return %v, %i : !graph.tensor<[n, 10], f32>, !graph.tensor<[n, 10], i64>
}

// -----

// The number of selected elements is known at run time: tiles count theirs by 64-bit words, one program sums the counts, and
// the tiles of the next one write their results from there on.
// CHECK-LABEL: func.func @nonzero
// CHECK:         %[[COUNTS:.*]] = tile.opaque [min((m*n) floordiv 16384, 31) + 1] ins(%arg0)
// CHECK:           vector.bitcast %{{.*}} : vector<64xi1> to vector<1xi64>
// CHECK:           math.ctpop
// CHECK:         %[[SUMS:.*]]:2 = tile.opaque [1] ins(%[[COUNTS]]) attributes {binds = "k", bound = #sym.expr<m*n>}
// CHECK:         %[[LIST:.*]] = tile.opaque [min((m*n) floordiv 16384, 31) + 1] ins(%arg0, %[[SUMS]]#1, %[[SUMS]]#0)
// CHECK:           math.cttz
// CHECK:         tile.compute [2, k]
func.func @nonzero(%x: !graph.tensor<[n, m], f32>) -> !graph.tensor<[2, k], i64> {
  %y = graph.nonzero %x : !graph.tensor<[n, m], f32> -> !graph.tensor<[2, k], i64>
  return %y : !graph.tensor<[2, k], i64>
}

// A size that data decide has no limit.
// CHECK-LABEL: func.func @countTo
// CHECK:         %[[SIZE:.*]] = tile.opaque [1] ins(%arg0) attributes {binds = "k"}
// CHECK:           tile.check %{{.*}}, "a size is negative"
// CHECK:         tile.compute [k] [parallel] ins(%[[SIZE]]
func.func @countTo(%x: !graph.tensor<[], i64>) -> !graph.tensor<[k], i64> {
  %y = graph.count_to %x : !graph.tensor<[], i64> -> !graph.tensor<[k], i64>
  return %y : !graph.tensor<[k], i64>
}

// Sizes that a region compares are computed by an operation of their own.
// CHECK-LABEL: func.func @assertSizes
// CHECK:         tile.opaque [1] attributes {asserts = [#sym.expr<n>, #sym.expr<2*k>, "at node 'add'"]} {
// CHECK:           tile.size n
// CHECK:           tile.size 2*k
// CHECK:         } : () -> !graph.tensor<[2], i64>
func.func @assertSizes(%x: !graph.tensor<[n], f32>, %y: !graph.tensor<[k], f32>) {
  graph.assert_sizes <n> equals <2*k> "at node 'add'"
  return
}

// A splat in memory is made before its first user, behind what binds its size.
// CHECK-LABEL: func.func @splatOfData
// CHECK:         tile.opaque [1] ins(%arg0) attributes {binds = "k"}
// CHECK:         %[[SEVENS:.*]] = tile.compute [k] [parallel] {
// CHECK:         return %[[SEVENS]]
func.func @splatOfData(%x: !graph.tensor<[], i64>) -> !graph.tensor<[k], i64> {
  %sevens = graph.constant dense<7> : tensor<i64> -> !graph.tensor<[k], i64>
  %y = graph.count_to %x : !graph.tensor<[], i64> -> !graph.tensor<[k], i64>
  %z = graph.reshape %y : !graph.tensor<[k], i64> -> !graph.tensor<[k, 1], i64>
  return %sevens : !graph.tensor<[k], i64>
}

// A tile is one class of a batch; all but the first result are scratch.
// CHECK-LABEL: func.func @suppress
// CHECK:         %[[KEPT:.*]]:8 = tile.opaque [b*c] ins(%arg0, %arg1, %arg2, %arg3, %arg4)
// CHECK:           arith.maximumf %{{.*}} : vector<16xf32>
// CHECK:           vector.reduction <or>, %{{.*}} : vector<16xi1> into i1
// CHECK:         return %[[KEPT]]#0
func.func @suppress(%boxes: !graph.tensor<[b, n, 4], f32>, %scores: !graph.tensor<[b, c, n], f32>, %limit: !graph.tensor<[], i64>, %overlap: !graph.tensor<[], f32>, %threshold: !graph.tensor<[], f32>) -> !graph.tensor<[b, c, n], i32> {
  %y = graph.suppress %boxes, %scores, %limit, %overlap, %threshold : !graph.tensor<[b, n, 4], f32>, !graph.tensor<[b, c, n], f32>, !graph.tensor<[], i64>, !graph.tensor<[], f32>, !graph.tensor<[], f32>
  return %y : !graph.tensor<[b, c, n], i32>
}

// The gradient of a pooling uses the positions of the maxima: both are computed in one pass over the windows.
// CHECK-LABEL: func.func @maxima
// CHECK:         %[[MAXIMA:.*]]:2 = tile.compute [b, 7, 7, 2, 2] [parallel, parallel, parallel, reduction, reduction] ins(%{{.*}} : #{{.*}}) init [0xFF800000 : f32, -1 : i32]
// CHECK:         tile.compute [b, 7, 7] [parallel, parallel, parallel] ins(%[[MAXIMA]]#1
// CHECK-NOT:     tile.compute
// CHECK:         return %[[MAXIMA]]#0
func.func @maxima(%x: !graph.tensor<[b, 14, 14], f32>) -> (!graph.tensor<[b, 7, 7], f32>, !graph.tensor<[b, 7, 7], i64>) {
  %y = graph.window max %x sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : !graph.tensor<[b, 14, 14], f32>
  %i = graph.window_argmax %x sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : !graph.tensor<[b, 14, 14], f32>
  return %y, %i : !graph.tensor<[b, 7, 7], f32>, !graph.tensor<[b, 7, 7], i64>
}

// -----

// Random bits by row-major index.
// CHECK-LABEL: func.func @random
// CHECK:         tile.compute [b, n] [parallel, parallel] ins(%arg0 : #{{.*}}, %arg0 : #{{.*}}, %arg0 : #{{.*}}, %arg0 : #{{.*}}) {
// CHECK-NEXT:    ^bb0(%[[K0:.*]]: i32, %[[K1:.*]]: i32, %[[K2:.*]]: i32, %[[K3:.*]]: i32):
// CHECK:           %[[AT:.*]] = arith.addi
// CHECK-NEXT:      tile.random_bits{{\[}}%[[K0]], %[[K1]], %[[K2]], %[[K3]]] at %[[AT]] : i64
func.func @random(%key: !graph.tensor<[4], ui32>) -> !graph.tensor<[b, n], ui64> {
  %r = graph.random_bits %key : !graph.tensor<[4], ui32> -> !graph.tensor<[b, n], ui64>
  return %r : !graph.tensor<[b, n], ui64>
}

// -----

// Integers are converted to narrow floats directly: by way of f32 they might be rounded twice.
// CHECK-LABEL: func.func @narrow
// CHECK:         arith.sitofp %{{.*}} : i32 to bf16
func.func @narrow(%x: !graph.tensor<[n], i32>) -> !graph.tensor<[n], bf16> {
  %y = graph.cast %x to bf16 : !graph.tensor<[n], i32>
  return %y : !graph.tensor<[n], bf16>
}
