// One operator lowered to loops, one to a service of a library, one left in the graph: a legal program.
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-to-tile{only=graph.unary}),tile-outline)' | FileCheck %s

// CHECK:       tile.program @p0 symbols [s0](%{{.*}}: !graph.tensor<[s0], f32>) -> (!graph.tensor<[s0], f32>)
// CHECK:         math.exp
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[LOOPS:.*]] = tile.call @p0(%arg0) [s0 = n] : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
// CHECK-NEXT:    %[[SERVICE:.*]] = tile.library "test.twice"(%[[LOOPS]])
// CHECK-NEXT:    graph.binary add %[[SERVICE]], %arg0
func.func @main(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %a = graph.unary exp %x : !graph.tensor<[n], f32>
  %b = tile.library "test.twice"(%a) : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  %c = graph.binary add %b, %x : !graph.tensor<[n], f32>
  return %c : !graph.tensor<[n], f32>
}
