// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-keep-block-orders))' | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(func.func(graph-keep-block-orders{enable=false}))' | FileCheck %s --check-prefix=OFF

!x = !graph.tensor<[t, b, 4], f32>
!h = !graph.tensor<[b, 2], f32>
!w = !graph.tensor<[6, 4], f32>
!r = !graph.tensor<[6, 2], f32>
!block4 = !graph.tensor<[2, 4], f32>
!block2 = !graph.tensor<[2, 2], f32>
!bias = !graph.tensor<[6], f32>
!gate = !graph.tensor<[2], f32>
!slice = !graph.tensor<[b, 6], f32>

// Gates of both weights and both biases, which are one tensor for a while, through a scan.
// CHECK-LABEL: func.func @cell
// CHECK-SAME:    graph.block_orders = 4
// CHECK-NOT:     graph.concat {{.*}} !graph.tensor<[2, 4], f32>
// CHECK:         %[[BOTH:.*]] = graph.concat %arg4, %arg5 axis 0
// CHECK:         %[[OF_INPUT:.*]] = graph.slice %{{.*}} starts [0, 0] sizes [1, 6] steps [1, 1]
// CHECK:         graph.transpose %arg2 [1, 0]
// CHECK:         graph.scan carry %arg1
// CHECK:           graph.transpose %arg3 [1, 0]
// CHECK:           %[[BIASED:.*]] = graph.binary add
// CHECK:           %[[GATES:.*]] = graph.binary add %{{.*}}, %[[BIASED]]
// CHECK:           %[[FIRST:.*]] = graph.slice %[[GATES]] starts [0, 2] sizes [b, 2]
// CHECK:           %[[SECOND:.*]] = graph.slice %[[GATES]] starts [0, 0] sizes [b, 2]
// CHECK:           %[[THIRD:.*]] = graph.slice %[[GATES]] starts [0, 5] sizes [b, 1]
// OFF-LABEL: func.func @cell
// OFF-NOT:     graph.block_orders
// OFF:         graph.concat {{.*}} !graph.tensor<[2, 4], f32>
func.func @cell(%x: !x, %h: !h, %w: !w, %r: !r, %inputBias: !bias, %stateBias: !bias) -> !h {
  %w0 = graph.slice %w starts [2, 0] sizes [2, 4] steps [1, 1] : <[6, 4], f32>
  %w1 = graph.slice %w starts [0, 0] sizes [2, 4] steps [1, 1] : <[6, 4], f32>
  %w2 = graph.slice %w starts [4, 0] sizes [2, 4] steps [1, 1] : <[6, 4], f32>
  %wOrdered = graph.concat %w0, %w1, %w2 axis 0 : !block4, !block4, !block4
  %r0 = graph.slice %r starts [2, 0] sizes [2, 2] steps [1, 1] : <[6, 2], f32>
  %r1 = graph.slice %r starts [0, 0] sizes [2, 2] steps [1, 1] : <[6, 2], f32>
  %r2 = graph.slice %r starts [4, 0] sizes [2, 2] steps [1, 1] : <[6, 2], f32>
  %rOrdered = graph.concat %r0, %r1, %r2 axis 0 : !block2, !block2, !block2
  %i0 = graph.slice %inputBias starts [2] sizes [2] steps [1] : <[6], f32>
  %i1 = graph.slice %inputBias starts [0] sizes [2] steps [1] : <[6], f32>
  %i2 = graph.slice %inputBias starts [4] sizes [2] steps [1] : <[6], f32>
  %inputOrdered = graph.concat %i0, %i1, %i2 axis 0 : !gate, !gate, !gate
  %s0 = graph.slice %stateBias starts [2] sizes [2] steps [1] : <[6], f32>
  %s1 = graph.slice %stateBias starts [0] sizes [2] steps [1] : <[6], f32>
  %s2 = graph.slice %stateBias starts [4] sizes [2] steps [1] : <[6], f32>
  %stateOrdered = graph.concat %s0, %s1, %s2 axis 0 : !gate, !gate, !gate
  %both = graph.concat %inputOrdered, %stateOrdered axis 0 : !bias, !bias
  %row = graph.reshape %both : <[12], f32> -> <[1, 12], f32>
  %ofInput = graph.slice %row starts [0, 0] sizes [1, 6] steps [1, 1] : <[1, 12], f32>
  %ofState = graph.slice %row starts [0, 6] sizes [1, 6] steps [1, 1] : <[1, 12], f32>
  %vector = graph.reshape %ofInput : <[1, 6], f32> -> <[6], f32>
  %all = graph.broadcast %vector dims [2] : <[6], f32> -> <[t, b, 6], f32>
  %across = graph.transpose %wOrdered [1, 0] : <[6, 4], f32>
  %products = graph.contract %x, %across batch [] x [] contract [2] x [0] : !x, !graph.tensor<[4, 6], f32>
  %sums = graph.binary add %products, %all : <[t, b, 6], f32>
  %last = graph.scan carry %h : !h over %sums : !graph.tensor<[t, b, 6], f32> {
  ^bb0(%state: !h, %step: !slice):
    %ofR = graph.transpose %rOrdered [1, 0] : <[6, 2], f32>
    %product = graph.contract %state, %ofR batch [] x [] contract [1] x [0] : !h, !graph.tensor<[2, 6], f32>
    %state1 = graph.broadcast %ofState dims [0, 1] : <[1, 6], f32> -> <[b, 6], f32>
    %biased = graph.binary add %product, %state1 : <[b, 6], f32>
    %gates = graph.binary add %step, %biased : <[b, 6], f32>
    %0 = graph.slice %gates starts [0, 0] sizes [b, 2] steps [1, 1] : <[b, 6], f32>
    %1 = graph.slice %gates starts [0, 2] sizes [b, 2] steps [1, 1] : <[b, 6], f32>
    %2 = graph.slice %gates starts [0, 5] sizes [b, 1] steps [1, 1] : <[b, 6], f32>
    %3 = graph.reshape %2 : <[b, 1], f32> -> <[b], f32>
    %4 = graph.broadcast %3 dims [0] : <[b], f32> -> <[b, 2], f32>
    %5 = graph.binary mul %0, %1 : <[b, 2], f32>
    %6 = graph.binary mul %5, %4 : <[b, 2], f32>
    graph.yield %6 : !h
  } -> !h
  return %last : !h
}

// A part across blocks, a result that is returned, and a sum over the blocks see their order.
// CHECK-LABEL: func.func @across
// CHECK-NOT:     graph.block_orders
// CHECK:         graph.concat
// CHECK:         graph.slice %{{.*}} starts [0, 1] sizes [b, 2]
// CHECK-LABEL: func.func @returned
// CHECK-NOT:     graph.block_orders
// CHECK:         graph.concat
// CHECK-LABEL: func.func @summed
// CHECK-NOT:     graph.block_orders
// CHECK:         graph.concat
func.func @across(%x: !graph.tensor<[b, 4], f32>, %w: !graph.tensor<[4, 4], f32>) -> (!h, !h) {
  %0 = graph.slice %w starts [0, 0] sizes [2, 4] steps [1, 1] : <[4, 4], f32>
  %1 = graph.slice %w starts [2, 0] sizes [2, 4] steps [1, 1] : <[4, 4], f32>
  %2 = graph.concat %1, %0 axis 0 : !block4, !block4
  %3 = graph.contract %x, %2 batch [] x [] contract [1] x [1] : !graph.tensor<[b, 4], f32>, !graph.tensor<[4, 4], f32>
  %4 = graph.slice %3 starts [0, 1] sizes [b, 2] steps [1, 1] : <[b, 4], f32>
  %5 = graph.slice %3 starts [0, 0] sizes [b, 2] steps [1, 1] : <[b, 4], f32>
  return %4, %5 : !h, !h
}
func.func @returned(%w: !graph.tensor<[4], f32>) -> !graph.tensor<[4], f32> {
  %0 = graph.slice %w starts [0] sizes [2] steps [1] : <[4], f32>
  %1 = graph.slice %w starts [2] sizes [2] steps [1] : <[4], f32>
  %2 = graph.concat %1, %0 axis 0 : !gate, !gate
  %3 = graph.unary exp %2 : <[4], f32>
  return %3 : !graph.tensor<[4], f32>
}
func.func @summed(%x: !graph.tensor<[b, 4], f32>, %w: !graph.tensor<[4, 4], f32>) -> !graph.tensor<[b, 4], f32> {
  %0 = graph.slice %w starts [0, 0] sizes [2, 4] steps [1, 1] : <[4, 4], f32>
  %1 = graph.slice %w starts [2, 0] sizes [2, 4] steps [1, 1] : <[4, 4], f32>
  %2 = graph.concat %1, %0 axis 0 : !block4, !block4
  %3 = graph.contract %x, %2 batch [] x [] contract [1] x [0] : !graph.tensor<[b, 4], f32>, !graph.tensor<[4, 4], f32>
  return %3 : !graph.tensor<[b, 4], f32>
}

// What is added to the gates is in another order.
// CHECK-LABEL: func.func @other
// CHECK-NOT:     graph.block_orders
// CHECK:         graph.concat
func.func @other(%x: !graph.tensor<[b, 4], f32>, %y: !graph.tensor<[b, 4], f32>) -> !h {
  %0 = graph.slice %x starts [0, 0] sizes [b, 2] steps [1, 1] : <[b, 4], f32>
  %1 = graph.slice %x starts [0, 2] sizes [b, 2] steps [1, 1] : <[b, 4], f32>
  %2 = graph.concat %1, %0 axis 1 : !h, !h
  %3 = graph.binary add %2, %y : <[b, 4], f32>
  %4 = graph.slice %3 starts [0, 2] sizes [b, 2] steps [1, 1] : <[b, 4], f32>
  return %4 : !h
}
