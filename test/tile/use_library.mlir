// RUN: freestone-opt %s --tile-use-library='op=graph.unary service=test.tanh version=3' --task-form-phases | FileCheck %s

// CHECK:      %[[X:.*]] = task.buffer input "x"
// CHECK:      %[[Y:.*]] = task.buffer output "y"
// CHECK:      task.phase "test.tanh" after all [] same [] {
// CHECK-NEXT:   task.space @test.tanh(%[[X]]) to (%[[Y]]) sizes [] tiles 1 scratch 0 reads [?] writes [?] sites []
// CHECK-SAME:     service 3 views [!graph.tensor<[n], f32>, !graph.tensor<[n], f32>]
func.func @main(%x: !graph.tensor<[n], f32> {graph.name = "x"}) -> (!graph.tensor<[n], f32> {graph.name = "y"}) {
  %y = graph.unary tanh %x : !graph.tensor<[n], f32>
  return %y : !graph.tensor<[n], f32>
}
