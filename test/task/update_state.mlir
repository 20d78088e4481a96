// RUN: freestone-opt %s --task-update-state | FileCheck %s
// RUN: freestone-opt %s --task-update-state='donate=false' | FileCheck %s --check-prefix=ALWAYS

!v = !graph.tensor<[4], f32>
!m = !graph.tensor<[4, 4], f32>
#id = affine_map<(d0) -> (d0)>

// A compute that reads the old value only at the element that it writes is in place; other readers come before.
// CHECK-LABEL: func.func @main
// CHECK:         %[[READ:.*]] = tile.compute [4] [parallel] ins(%arg0 : #[[REVERSED:.*]])
// CHECK:         %[[NEW:.*]] = tile.compute [4] [parallel] ins(%arg0 : #{{.*}}, %arg1
// CHECK-NOT:     tile.compute
// CHECK:         return %[[NEW]], %[[READ]]
// ALWAYS-LABEL:  func.func @main
// ALWAYS:          %[[NEW:.*]] = tile.compute [4] [parallel] ins(%arg0 : #{{.*}}, %arg1
// ALWAYS:          %[[READ:.*]] = tile.compute
// ALWAYS:          %[[COPY:.*]] = tile.compute [4] [parallel] ins(%[[NEW]]
// ALWAYS:          return %[[COPY]], %[[READ]]
func.func @main(%w: !v {graph.state = "w"}, %g: !v {graph.name = "g"}) -> (!v {graph.state = "w"}, !v {graph.name = "y"}) {
  %0 = tile.compute [4] [parallel] ins(%w : #id, %g : #id) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    tile.yield %s : f32
  } : (!v, !v) -> !v
  %1 = tile.compute [4] [parallel] ins(%w : affine_map<(d0) -> (3 - d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!v) -> !v
  return %0, %1 : !v, !v
}

// Reads other elements than it writes: a copy.
// CHECK-LABEL: func.func @transposed
// CHECK:         %[[NEW:.*]] = tile.compute [4, 4]
// CHECK:         %[[FLAT:.*]] = graph.reshape %[[NEW]]
// CHECK:         %[[COPY:.*]] = tile.compute [16] [parallel] ins(%[[FLAT]]
// CHECK:         %[[BACK:.*]] = graph.reshape %[[COPY]]
// CHECK:         return %[[BACK]]
func.func @transposed(%w: !m {graph.state = "m"}) -> (!m {graph.state = "m"}) {
  %0 = tile.compute [4, 4] [parallel, parallel] ins(%w : affine_map<(d0, d1) -> (d1, d0)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!m) -> !m
  return %0 : !m
}

// The new value is used before the last use of the old one: a copy, after both.
// CHECK-LABEL: func.func @crossed
// CHECK:         %[[NEW:.*]] = tile.compute [4] [parallel] ins(%arg0
// CHECK:         tile.compute [4] [parallel] ins(%[[NEW]] : #{{.*}}, %arg0
// CHECK:         %[[COPY:.*]] = tile.compute [4] [parallel] ins(%[[NEW]] : #{{[a-z0-9]*}}) {
// CHECK:         return %[[COPY]]
func.func @crossed(%w: !v {graph.state = "w"}) -> (!v {graph.state = "w"}, !v {graph.name = "y"}) {
  %0 = tile.compute [4] [parallel] ins(%w : #id) {
  ^bb0(%a: f32):
    %s = arith.negf %a : f32
    tile.yield %s : f32
  } : (!v) -> !v
  %1 = tile.compute [4] [parallel] ins(%0 : #id, %w : #id) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    tile.yield %s : f32
  } : (!v, !v) -> !v
  return %0, %1 : !v, !v
}

// Two states are exchanged: one through a copy.
// CHECK-LABEL: func.func @swapped
// CHECK:         %[[SECOND:.*]] = tile.compute [4] [parallel] ins(%arg0
// CHECK:         %[[FIRST:.*]] = tile.compute [4] [parallel] ins(%arg1
// CHECK:         %[[COPY:.*]] = tile.compute [4] [parallel] ins(%[[SECOND]]
// CHECK:         return %[[FIRST]], %[[COPY]]
func.func @swapped(%w: !v {graph.state = "w"}, %u: !v {graph.state = "u"}) -> (!v {graph.state = "w"}, !v {graph.state = "u"}) {
  return %u, %w : !v, !v
}

// An unchanged state is not written; an input, and a value of two states, are copied.
// CHECK-LABEL: func.func @given
// CHECK-SAME:    -> (!graph.tensor<[4], f32> {graph.state = "u"}, !graph.tensor<[4], f32> {graph.state = "t"}, !graph.tensor<[4], f32> {graph.state = "s"})
// CHECK:         %[[NEW:.*]] = tile.compute
// CHECK:         %[[COPY:.*]] = tile.compute [4] [parallel] ins(%[[NEW]]
// CHECK:         %[[INPUT:.*]] = tile.compute [4] [parallel] ins(%arg2
// CHECK:         return %[[NEW]], %[[COPY]], %[[INPUT]]
func.func @given(%w: !v {graph.state = "w"}, %u: !v {graph.state = "u"}, %x: !v {graph.name = "x"})
    -> (!v {graph.state = "w"}, !v {graph.state = "u"}, !v {graph.state = "t"}, !v {graph.state = "s"}) {
  %0 = tile.compute [4] [parallel] ins(%u : #id) {
  ^bb0(%a: f32):
    %s = arith.negf %a : f32
    tile.yield %s : f32
  } : (!v) -> !v
  return %w, %0, %0, %x : !v, !v, !v, !v
}

// In a group, a member that reads the old value must come before the writer, in any order of passes over a row: here
// the reader runs only after the row's sum, the writer at once.
// CHECK-LABEL: func.func @grouped
// CHECK:         %[[GROUP:.*]]:2 = tile.group
// CHECK:         %[[COPY:.*]] = tile.compute [16]
// CHECK:         %[[BACK:.*]] = graph.reshape %[[COPY]]
// CHECK:         return %[[BACK]], %[[GROUP]]#1
// ALWAYS-LABEL:  func.func @grouped
func.func @grouped(%w: !m {graph.state = "m"}, %x: !m {graph.name = "x"}) -> (!m {graph.state = "m"}, !m {graph.name = "y"}) {
  %0:2 = tile.group {
    %sum = tile.compute [4, 4] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      tile.yield %s : f32
    } : (!m) -> !v
    %y = tile.compute [4, 4] [parallel, parallel] ins(%w : affine_map<(d0, d1) -> (d0, d1)>, %sum : affine_map<(d0, d1) -> (d0)>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.subf %a, %b : f32
      tile.yield %s : f32
    } : (!m, !v) -> !m
    %new = tile.compute [4, 4] [parallel, parallel]
           ins(%w : affine_map<(d0, d1) -> (d0, d1)>, %x : affine_map<(d0, d1) -> (d0, d1)>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.subf %a, %b : f32
      tile.yield %s : f32
    } : (!m, !m) -> !m
    tile.yield %new, %y : !m, !m
  } : !m, !m
  return %0#0, %0#1 : !m, !m
}
