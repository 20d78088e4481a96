// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,task-update-in-place,task-copy-results),task-update-state,tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases)' | FileCheck %s
// RUN: freestone-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(graph-to-tile,cse,task-update-in-place{enable=false},task-copy-results),task-update-state,tile-outline,tile-choose-tiles{target=x86-64-v4},task-form-phases)' | FileCheck %s --check-prefix=ALWAYS

!t = !graph.tensor<[v, 8], f32>
!i = !graph.tensor<[n, 1], i64>
!u = !graph.tensor<[n, 8], f32>

// What the program computed itself is written where it lies, here in the output.
// CHECK:         scatters_in_place = 1
// CHECK-LABEL:   task.program @intermediate
// CHECK:           %[[X:.*]] = task.buffer input "x"
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK-NOT:       task.buffer arena
// CHECK:           task.space @{{.*}}(%[[X]]) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]], %{{.*}}, %{{.*}}) to (%[[Y]])
// CHECK-NOT:       task.space
// ALWAYS-NOT:    scatters_in_place
// ALWAYS-LABEL:  task.program @intermediate
// ALWAYS-COUNT-3:  task.space
func.func @intermediate(%x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}, %u: !u {graph.name = "u"}) -> (!t {graph.name = "y"}) {
  %0 = graph.unary neg %x : !t
  %1 = graph.scatter_nd add %0, %i, %u : !t, !i, !u
  return %1 : !t
}

// -----

!t = !graph.tensor<[v, 8], f32>
!i = !graph.tensor<[n, 1], i64>
!u = !graph.tensor<[n, 8], f32>

// Inputs are copied, once, whatever follows.
// CHECK-LABEL:   task.program @input
// CHECK:           %[[X:.*]] = task.buffer input "x"
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK:           task.space @{{.*}}(%[[X]]) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]], %{{.*}}, %{{.*}}) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]], %{{.*}}, %{{.*}}) to (%[[Y]])
// CHECK-NOT:       task.space
func.func @input(%x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}, %u: !u {graph.name = "u"}) -> (!t {graph.name = "y"}) {
  %0 = graph.scatter_nd add %x, %i, %u : !t, !i, !u
  %1 = graph.scatter_nd max %0, %i, %u : !t, !i, !u
  return %1 : !t
}

// -----

!t = !graph.tensor<[v, 8], f32>
!i = !graph.tensor<[n, 8], i64>
!u = !graph.tensor<[n, 8], f32>

// Of two updates of one tensor, one gets a copy, and the other moves behind all readers of the tensor.
// CHECK:         scatters_in_place = 1
// CHECK-LABEL:   task.program @later
// CHECK:           %[[X:.*]] = task.buffer input "x"
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK:           %[[Z:.*]] = task.buffer output "z"
// CHECK:           %[[OWN:.*]] = task.buffer arena
// CHECK-NOT:       task.buffer
// CHECK:           task.space @{{.*}}(%[[X]]) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]]) to (%[[OWN]])
// CHECK:           task.space @{{.*}}(%[[OWN]], %{{.*}}, %{{.*}}) to (%[[OWN]])
// CHECK:           task.space @{{.*}}(%[[Y]], %[[OWN]]) to (%[[Z]])
// CHECK:           task.space @{{.*}}(%[[Y]], %{{.*}}, %{{.*}}) to (%[[Y]])
func.func @later(%x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}, %u: !u {graph.name = "u"}) -> (!t {graph.name = "y"}, !t {graph.name = "z"}) {
  %0 = graph.unary neg %x : !t
  %1 = graph.scatter_elements add %0, %i, %u axis 0 : !t, !i, !u
  %2 = graph.scatter_elements max %0, %i, %u axis 0 : !t, !i, !u
  %3 = graph.binary mul %0, %2 : !t
  return %1, %3 : !t, !t
}

// -----

!t = !graph.tensor<[n, 8], f32>
!i = !graph.tensor<[n, 1], i64>

// Updates that lie in the operand's memory would be written over while they are read.
// CHECK-LABEL:   task.program @itself
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK:           %[[OLD:.*]] = task.buffer arena
// CHECK:           task.space @{{.*}}(%[[OLD]]) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]], %{{.*}}, %[[OLD]]) to (%[[Y]])
func.func @itself(%x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}) -> (!t {graph.name = "y"}) {
  %0 = graph.unary neg %x : !t
  %1 = graph.scatter_nd none %0, %i, %0 : !t, !i, !t
  return %1 : !t
}

// -----

!c = !graph.tensor<[64, 4, 8], f32>
!i = !graph.tensor<[n, 2], i64>
!u = !graph.tensor<[n, 8], f32>

// A cache that is kept from run to run: who reads the new value reads the state.
// CHECK-LABEL:   task.program @cache
// CHECK:           %[[CACHE:.*]] = task.buffer state "cache"
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK-NOT:       task.buffer arena
// CHECK:           task.space @{{.*}}(%[[CACHE]], %{{.*}}, %{{.*}}) to (%[[CACHE]])
// CHECK:           task.space @{{.*}}(%[[CACHE]], %{{.*}}, %{{.*}}) to (%[[CACHE]])
// CHECK:           task.space @{{.*}}(%[[CACHE]]) to (%[[Y]])
// CHECK-NOT:       task.space
// ALWAYS-LABEL:  task.program @cache
// ALWAYS:          task.buffer arena
func.func @cache(%cache: !c {graph.state = "cache"}, %i: !i {graph.name = "i"}, %u: !u {graph.name = "u"})
    -> (!c {graph.state = "cache"}, !graph.tensor<[64, 8], f32> {graph.name = "y"}) {
  %0 = graph.scatter_nd none %cache, %i, %u : !c, !i, !u
  %1 = graph.scatter_nd add %0, %i, %u : !c, !i, !u
  %2 = graph.reduce max %1 axes [1] : !c
  return %1, %2 : !c, !graph.tensor<[64, 8], f32>
}

// -----

!c = !graph.tensor<[64, 8], f32>
!i = !graph.tensor<[n, 1], i64>
!u = !graph.tensor<[n, 8], f32>

// The value between two updates is an output: the second one goes through other memory, and so does the first.
// CHECK-LABEL:   task.program @between
// CHECK:           %[[CACHE:.*]] = task.buffer state "cache"
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK:           task.space @{{.*}}(%[[CACHE]]) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]], %{{.*}}, %{{.*}}) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]]) to (%[[CACHE]])
// CHECK:           task.space @{{.*}}(%[[CACHE]], %{{.*}}, %{{.*}}) to (%[[CACHE]])
// CHECK-NOT:       task.space
func.func @between(%cache: !c {graph.state = "cache"}, %i: !i {graph.name = "i"}, %u: !u {graph.name = "u"})
    -> (!c {graph.state = "cache"}, !c {graph.name = "y"}) {
  %0 = graph.scatter_nd none %cache, %i, %u : !c, !i, !u
  %1 = graph.scatter_nd add %0, %i, %u : !c, !i, !u
  return %1, %0 : !c, !c
}

// -----

!t = !graph.tensor<[500, 8], f32>
!i = !graph.tensor<[n, 1], i64>
!u = !graph.tensor<[n, 8], f32>

// Each scatter into zeros has zeros of its own, which are not copied.
// CHECK-NOT:     scatters_in_place
// CHECK-LABEL:   task.program @zeros
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK:           %[[Z:.*]] = task.buffer output "z"
// CHECK:           task.space @[[FILL:p[0-9]+]]() to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]], %{{.*}}, %{{.*}}) to (%[[Y]])
// CHECK:           task.space @[[FILL]]() to (%[[Z]])
// CHECK:           task.space @{{.*}}(%[[Z]], %{{.*}}, %{{.*}}) to (%[[Z]])
func.func @zeros(%i: !i {graph.name = "i"}, %u: !u {graph.name = "u"}) -> (!t {graph.name = "y"}, !t {graph.name = "z"}) {
  %0 = graph.constant dense<0.0> : tensor<f32> -> !t
  %1 = graph.scatter_nd add %0, %i, %u : !t, !i, !u
  %2 = graph.scatter_nd max %0, %i, %u : !t, !i, !u
  return %1, %2 : !t, !t
}

// -----

!t = !graph.tensor<[v, 8], f32>
!i = !graph.tensor<[n, 1], i64>
!u = !graph.tensor<[n, 8], f32>

// Readers of the old elements come before the update.
// CHECK:         scatters_in_place = 2
// CHECK-LABEL:   task.program @before
// CHECK:           %[[X:.*]] = task.buffer input "x"
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK:           %[[Z:.*]] = task.buffer output "z"
// CHECK:           %[[W:.*]] = task.buffer output "w"
// CHECK-NOT:       task.buffer arena
// CHECK:           task.space @{{.*}}(%[[X]]) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[Y]]) to (%[[Z]])
// CHECK:           task.space @{{.*}}(%[[Y]], %{{.*}}, %{{.*}}) to (%[[Y]])
func.func @before(%x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}, %u: !u {graph.name = "u"})
    -> (!t {graph.name = "y"}, !t {graph.name = "z"}, !t {graph.name = "w"}) {
  %0 = graph.unary neg %x : !t
  %1 = graph.scatter_nd add %0, %i, %u : !t, !i, !u
  %2 = graph.unary exp %0 : !t
  %3 = graph.unary neg %2 : !t
  %4 = graph.scatter_nd max %3, %i, %u : !t, !i, !u
  return %1, %2, %4 : !t, !t, !t
}

// -----

!t = !graph.tensor<[64, 8], f32>
!i = !graph.tensor<[n, 1], i64>
!u = !graph.tensor<[n, 8], f32>

// The update overwrites an operand of the new state's operation, which therefore can't move behind the last reader of
// the old state.
// CHECK-LABEL:   task.program @crossed
// CHECK:           %[[W:.*]] = task.buffer state "w"
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK:           task.space @{{.*}}(%{{.*}}) to (%[[OLD:.*]]) sizes
// CHECK:           task.space @{{.*}}(%[[OLD]]) to (%[[NEW:.*]]) sizes
// CHECK:           task.space @{{.*}}(%[[OLD]], %{{.*}}, %{{.*}}) to (%[[OLD]])
// CHECK:           task.space @{{.*}}(%[[W]], %[[OLD]]) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[NEW]]) to (%[[W]])
func.func @crossed(%w: !t {graph.state = "w"}, %x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}, %u: !u {graph.name = "u"})
    -> (!t {graph.state = "w"}, !t {graph.name = "y"}) {
  %0 = graph.unary neg %x : !t
  %1 = graph.unary exp %0 : !t
  %2 = graph.scatter_nd add %0, %i, %u : !t, !i, !u
  %3 = graph.binary add %w, %2 : !t
  return %1, %3 : !t, !t
}

// -----

!t = !graph.tensor<[64, 8], f32>
!i = !graph.tensor<[n, 1], i64>
!j = !graph.tensor<[64, 1], i64>
!u = !graph.tensor<[n, 8], f32>

// The scatter of the state's rows can't move behind the second update of the state, so its operand is copied.
// CHECK:         scatters_in_place = 2
// CHECK-LABEL:   task.program @rows
// CHECK:           %[[W:.*]] = task.buffer state "w"
// CHECK:           %[[Y:.*]] = task.buffer output "y"
// CHECK:           %[[Z:.*]] = task.buffer output "z"
// CHECK:           task.space @{{.*}}(%[[W]], %{{.*}}, %{{.*}}) to (%[[W]])
// CHECK:           task.space @{{.*}}(%{{.*}}, %{{.*}}, %[[W]]) to (%[[Y]])
// CHECK:           task.space @{{.*}}(%[[W]], %{{.*}}, %{{.*}}) to (%[[W]])
func.func @rows(%w: !t {graph.state = "w"}, %x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}, %j: !j {graph.name = "j"},
                %u: !u {graph.name = "u"}) -> (!t {graph.state = "w"}, !t {graph.name = "y"}, !t {graph.name = "z"}) {
  %0 = graph.unary neg %x : !t
  %1 = graph.scatter_nd add %w, %i, %u : !t, !i, !u
  %2 = graph.scatter_nd none %0, %j, %1 : !t, !j, !t
  %3 = graph.scatter_nd max %1, %i, %u : !t, !i, !u
  %4 = graph.unary exp %0 : !t
  return %3, %2, %4 : !t, !t, !t
}

// -----

!t = !graph.tensor<[6, 8], f32>
!i = !graph.tensor<[2, 1], i64>
!j = !graph.tensor<[2], i64>
!u = !graph.tensor<[2, 8], f32>
!r = !graph.tensor<[48], f32>

// An update that moves behind another reader of an input, as do its aliases, is given a copy of the input there.
// CHECK-LABEL:   task.program @moved
// CHECK:           %[[X:.*]] = task.buffer input "x"
// CHECK:           task.space @{{.*}}(%[[X]]) to (%[[COPY:.*]]) sizes
// CHECK:           task.space @{{.*}}(%[[COPY]], %{{.*}}, %{{.*}}) to (%[[COPY]])
func.func @moved(%x: !t {graph.name = "x"}, %i: !i {graph.name = "i"}, %j: !j {graph.name = "j"}, %u: !u {graph.name = "u"})
    -> (!r {graph.name = "y"}, !u {graph.name = "z"}) {
  %0 = graph.scatter_nd none %x, %i, %u : !t, !i, !u
  %1 = graph.reshape %0 : !t -> !r
  %2 = graph.gather %x, %j axis 0 batch_dims 0 : !t, !j
  return %1, %2 : !r, !u
}
