// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile),tile-outline,tile-choose-tiles)' | FileCheck %s

// Unused results of a sort stay within its program: two lists of positions of one row are a worker's scratch. Unused
// positions are not computed.
// CHECK-LABEL: tile.program @p0 symbols [s0, s1](%{{.*}}: !graph.tensor<[s0, s1], f32>) -> (!graph.tensor<[s0, s1], f32>)
// CHECK-SAME:    tiles = s0, scratch = 128*(s1 ceildiv 8)
// CHECK:         tile.return %{{.*}}#0 : !graph.tensor<[s0, s1], f32>

// Scratch holds the best ten of a row and of its 32 classes, for rows of any length.
// CHECK-LABEL: tile.program @p1
// CHECK-SAME:    tiles = s0, scratch = 512

// Scratch of a sort by all workers holds one of its parts.
// CHECK-LABEL: tile.program @p2 symbols [s0, s1, s2](%{{.*}}: !graph.tensor<[s0], f32>) -> (!graph.tensor<[s0], i64>)
// CHECK-SAME:    tiles = s1, scratch = 64*(s2 ceildiv 8)

// A bound size is a result.
// CHECK-LABEL: func.func @main
// CHECK:         tile.call {{.*}} {binds = "u", bound = #sym.expr<l>} : {{.*}} -> (!graph.tensor<[1], i64>,
func.func @main(%x: !graph.tensor<[n, m], f32>, %y: !graph.tensor<[l], f32>)
    -> (!graph.tensor<[n, m], f32>, !graph.tensor<[n, 10], f32>, !graph.tensor<[n, 10], i64>, !graph.tensor<[u], f32>) {
  %s, %p = graph.sort %x axis 1 : !graph.tensor<[n, m], f32>
  %v, %i = graph.top_k %x axis 1 k <10> : !graph.tensor<[n, m], f32>
  %d, %f, %r, %c = graph.unique %y axis 0 sorted : !graph.tensor<[l], f32>
      -> !graph.tensor<[u], f32>, !graph.tensor<[u], i64>, !graph.tensor<[l], i64>, !graph.tensor<[u], i64>
  return %s, %v, %i, %d : !graph.tensor<[n, m], f32>, !graph.tensor<[n, 10], f32>, !graph.tensor<[n, 10], i64>, !graph.tensor<[u], f32>
}
