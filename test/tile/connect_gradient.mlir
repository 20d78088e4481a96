// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-differentiate{wrt=q,k,v},graph-decompose,canonicalize,graph-reassociate-sums,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse))' \
// RUN:   | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-differentiate{wrt=q,k,v},graph-decompose,canonicalize,graph-reassociate-sums,graph-to-tile,cse,tile-inline-producers,cse,tile-fuse),tile-outline,tile-choose-tiles{target=x86-64-v4})' \
// RUN:   | FileCheck %s --check-prefix=TREE

// The forward pass keeps a maximum and a factor of each row; the backward pass computes the weights again from these:
// one program with two products and three sums. What the positions mask is masked by -inf there.
// CHECK-LABEL: func.func @causal
// CHECK-SAME:    connected = 2
// CHECK:         %[[FORWARD:.*]]:3 = tile.group {
// CHECK:           tile.compute [b, m, m, d]
// CHECK:           arith.constant -3.40282347E+38
// CHECK:           arith.maxnumf
// CHECK:           tile.yield {{.*}} : !graph.tensor<[b, m], f32>, !graph.tensor<[b, m], f32>, !graph.tensor<[b, m, e], f32>
// CHECK:         tile.group {
// CHECK:           tile.compute [b, m, m, d]
// CHECK:           arith.constant 0xFF800000
// CHECK:           math.exp
// CHECK-NOT:       arith.maxnumf
// CHECK:           tile.yield {{.*}} : !graph.tensor<[b, m, {{[de]}}], f32>, !graph.tensor<[b, m, {{[de]}}], f32>, !graph.tensor<[b, m, {{[de]}}], f32>
// Both axes of the weights are in blocks; those behind the diagonal are left out. Sums along rows end with the rows, the
// one along columns with the columns.
// TREE-LABEL:  tile.program @p4
// TREE-SAME:     body = [#tile.blocks<axis = 0, step = 1, dealt = true,
// TREE-SAME:       body = [#tile.packed<compute = 0, input = 0>, #tile.packed<compute = 1, input = 0>, #tile.packed<compute = 5, input = 1>, #tile.packed<compute = 10, input = 1>,
// TREE-SAME:               #tile.blocks<axis = 2, step = {{[0-9]+}}, dealt = false,
// TREE-SAME:         body = [#tile.packed<compute = 0, input = 1>, #tile.packed<compute = 1, input = 1>, #tile.packed<compute = 8, input = 1>,
// TREE-SAME:                 #tile.blocks<axis = 1, step = 128, unit = {{[0-9]+}}, dealt = false,
// TREE-SAME:           body = [#tile.multiply<compute = 0, columns = 1>, #tile.multiply<compute = 1, columns = 1>,
// TREE-SAME:                   #tile.vectors<axis = 1, lanes = 16, together = 2, body = [#tile.evaluate<computes = [2, 3, 4, 7], lanes = 1, along = 2>]>,
// TREE-SAME:                   #tile.multiply<compute = 5, columns = 5>, #tile.multiply<compute = 8, columns = 6>, #tile.multiply<compute = 10, columns = 7>],
// TREE-SAME:           masked_by = 3>,
// TREE-SAME:                 #tile.vectors<axis = 5, lanes = 16, together = 2, body = [#tile.evaluate<computes = [6], lanes = 5, along = 2>]>, #tile.vectors<axis = 7, lanes = 16, together = 2, body = [#tile.evaluate<computes = [11], lanes = 7, along = 2>]>]>,
// TREE-SAME:               #tile.vectors<axis = 6, lanes = 16, together = 2, body = [#tile.evaluate<computes = [9], lanes = 6, along = 1>]>]>]>
func.func @causal(%q: !graph.tensor<[b, m, d], f32> {graph.name = "q"}, %k: !graph.tensor<[b, m, d], f32> {graph.name = "k"},
                  %v: !graph.tensor<[b, m, e], f32> {graph.name = "v"}, %g: !graph.tensor<[b, m, e], f32>) -> !graph.tensor<[], f32> {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, m, d], f32>, !graph.tensor<[b, m, d], f32>
  %i = graph.iota 1 : !graph.tensor<[b, m, m], i64>
  %j = graph.iota 2 : !graph.tensor<[b, m, m], i64>
  %behind = graph.compare gt %j, %i : !graph.tensor<[b, m, m], i64>
  %lowest = graph.constant dense<-3.40282347E+38> : tensor<f32> -> !graph.tensor<[b, m, m], f32>
  %t = graph.select %behind, %lowest, %s : !graph.tensor<[b, m, m], i1>, !graph.tensor<[b, m, m], f32>
  %p = graph.softmax %t axis 2 : !graph.tensor<[b, m, m], f32>
  %o = graph.contract %p, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, m, m], f32>, !graph.tensor<[b, m, e], f32>
  %y = graph.binary mul %o, %g : !graph.tensor<[b, m, e], f32>
  %loss = graph.reduce add %y axes [0, 1, 2] : !graph.tensor<[b, m, e], f32>
  return %loss : !graph.tensor<[], f32>
}

// -----

// With a single matrix, rows are no tiles that workers could be dealt where they are summed.
// CHECK-LABEL: func.func @single
// CHECK-NOT:     connected =
func.func @single(%q: !graph.tensor<[m, d], f32> {graph.name = "q"}, %k: !graph.tensor<[n, d], f32> {graph.name = "k"},
                  %v: !graph.tensor<[n, e], f32> {graph.name = "v"}, %g: !graph.tensor<[m, e], f32>) -> !graph.tensor<[], f32> {
  %s = graph.contract %q, %k batch [] x [] contract [1] x [1] : !graph.tensor<[m, d], f32>, !graph.tensor<[n, d], f32>
  %p = graph.softmax %s axis 1 : !graph.tensor<[m, n], f32>
  %o = graph.contract %p, %v batch [] x [] contract [1] x [0] : !graph.tensor<[m, n], f32>, !graph.tensor<[n, e], f32>
  %y = graph.binary mul %o, %g : !graph.tensor<[m, e], f32>
  %loss = graph.reduce add %y axes [0, 1] : !graph.tensor<[m, e], f32>
  return %loss : !graph.tensor<[], f32>
}

// -----

// Small intermediates are stored, and read again by the backward pass.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     connected =
func.func @small(%q: !graph.tensor<[b, 128, d], f32> {graph.name = "q"}, %k: !graph.tensor<[b, 128, d], f32> {graph.name = "k"},
                 %v: !graph.tensor<[b, 128, e], f32> {graph.name = "v"}, %g: !graph.tensor<[b, 128, e], f32>) -> !graph.tensor<[], f32> {
  %s = graph.contract %q, %k batch [0] x [0] contract [2] x [2] : !graph.tensor<[b, 128, d], f32>, !graph.tensor<[b, 128, d], f32>
  %p = graph.softmax %s axis 2 : !graph.tensor<[b, 128, 128], f32>
  %o = graph.contract %p, %v batch [0] x [0] contract [2] x [1] : !graph.tensor<[b, 128, 128], f32>, !graph.tensor<[b, 128, e], f32>
  %y = graph.binary mul %o, %g : !graph.tensor<[b, 128, e], f32>
  %loss = graph.reduce add %y axes [0, 1, 2] : !graph.tensor<[b, 128, e], f32>
  return %loss : !graph.tensor<[], f32>
}
