// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions)' --split-input-file | FileCheck %s
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions{append=false})' --split-input-file | FileCheck %s --check-prefix=COPIED
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions{reverse=false})' --split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: freestone-opt %s --pass-pipeline='builtin.module(tile-lift-regions{keep-states=false})' --split-input-file | FileCheck %s --check-prefix=RETURNED

// What is carried and collected is returned once. Work on weights moves into the body, other work that does not depend
// on the iteration out of the loop.
// CHECK-LABEL: func.func @scanned
// CHECK:         %[[TWICE:.*]] = graph.binary add %arg1, %arg1
// CHECK-NEXT:    %[[R:.*]]:2 = tile.loop @scanned_body trips t carry(%arg1) as [0] over(%arg0) with(%[[TWICE]])
// CHECK:       func.func private @scanned_body(%[[STATE:.*]]: !graph.tensor<[n, 8], f32>, %[[SLICE:.*]]: !graph.tensor<[n, 8], f32>, %[[CAPTURED:.*]]: !graph.tensor<[n, 8], f32>) -> !graph.tensor<[n, 8], f32>
// CHECK:         graph.weight "w"
// CHECK:         graph.binary mul %[[STATE]]
// CHECK:         %[[NEXT:.*]] = graph.binary add %{{.*}}, %[[CAPTURED]]
// CHECK:         return %[[NEXT]] : !graph.tensor<[n, 8], f32>
func.func @scanned(%x: !graph.tensor<[t, n, 8], f32>, %h: !graph.tensor<[n, 8], f32>) -> (!graph.tensor<[n, 8], f32>, !graph.tensor<[t, n, 8], f32>) {
  %w = graph.weight "w" : !graph.tensor<[n, 8], f32>
  %last, %all = graph.scan carry %h : !graph.tensor<[n, 8], f32> over %x : !graph.tensor<[t, n, 8], f32> {
  ^bb0(%state: !graph.tensor<[n, 8], f32>, %slice: !graph.tensor<[n, 8], f32>):
    %twice = graph.binary add %h, %h : !graph.tensor<[n, 8], f32>
    %weighted = graph.binary mul %state, %w : !graph.tensor<[n, 8], f32>
    %sum = graph.binary add %weighted, %slice : !graph.tensor<[n, 8], f32>
    %next = graph.binary add %sum, %twice : !graph.tensor<[n, 8], f32>
    graph.yield %next, %next : !graph.tensor<[n, 8], f32>, !graph.tensor<[n, 8], f32>
  } -> !graph.tensor<[n, 8], f32>, !graph.tensor<[t, n, 8], f32>
  return %last, %all : !graph.tensor<[n, 8], f32>, !graph.tensor<[t, n, 8], f32>
}

// -----

// A limit that is no size becomes a condition, and the loop counts.
// CHECK-LABEL: func.func @counted
// CHECK:         %[[ZERO:.*]] = graph.constant dense<0>
// CHECK:         %[[FIRST:.*]] = graph.compare lt %[[ZERO]], %arg1
// CHECK:         tile.loop @counted_body while %[[FIRST]] carry(%[[ZERO]], %arg0) as [-1, -1] with(%arg1)
// CHECK:       func.func private @counted_body(%[[NUMBER:[a-z0-9]*]]: !graph.tensor<[], i64> {tile.carried = 0 : i64}, %{{.*}} {tile.carried = 1 : i64}, %[[LIMIT:.*]]: !graph.tensor<[], i64>)
// CHECK:         %[[LATER:.*]] = graph.binary add %[[NUMBER]]
// CHECK:         %[[BELOW:.*]] = graph.compare lt %[[LATER]], %[[LIMIT]]
// CHECK:         %[[ON:.*]] = graph.binary and %{{.*}}, %[[BELOW]]
// CHECK:         return %[[ON]], %[[LATER]]
func.func @counted(%x: !graph.tensor<[n], f32>, %limit: !graph.tensor<[], i64>) -> !graph.tensor<[n], f32> {
  %r = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[n], f32>):
    %yes = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    %next = graph.unary tanh %state : !graph.tensor<[n], f32>
    graph.yield %yes, %next : !graph.tensor<[], i1>, !graph.tensor<[n], f32>
  } -> !graph.tensor<[n], f32>
  return %r : !graph.tensor<[n], f32>
}

// -----

// A known limit is the number of iterations, which nothing counts.
// CHECK-LABEL: func.func @known
// CHECK:         tile.loop @known_body trips 7 carry(%arg0) as [-1] :
// CHECK:       func.func private @known_body(%{{.*}}: !graph.tensor<[n], f32> {tile.carried = 0 : i64}) -> (!graph.tensor<[n], f32> {tile.carried = 0 : i64})
func.func @known(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
  %limit = graph.constant dense<7> : tensor<i64> -> !graph.tensor<[], i64>
  %r = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[n], f32>):
    %yes = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    %next = graph.unary tanh %state : !graph.tensor<[n], f32>
    graph.yield %yes, %next : !graph.tensor<[], i1>, !graph.tensor<[n], f32>
  } -> !graph.tensor<[n], f32>
  return %r : !graph.tensor<[n], f32>
}

// -----

// Both sides of a branch take what either needs.
// CHECK-LABEL: func.func @branch
// CHECK:         tile.branch %arg2 then @branch_body else @branch_body_0(%arg0, %arg1)
func.func @branch(%x: !graph.tensor<[n], f32>, %y: !graph.tensor<[n], f32>, %c: !graph.tensor<[], i1>) -> !graph.tensor<[n], f32> {
  %r = graph.if %c {
    %a = graph.unary tanh %x : !graph.tensor<[n], f32>
    graph.yield %a : !graph.tensor<[n], f32>
  } else {
    %b = graph.unary exp %y : !graph.tensor<[n], f32>
    graph.yield %b : !graph.tensor<[n], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[n], f32>
  return %r : !graph.tensor<[n], f32>
}

// -----

// A condition may end the loop before its limit: what was collected until then is taken.
// CHECK-LABEL: func.func @ended
// CHECK:         %[[R:.*]]:3 = tile.loop @ended_body trips 7 while %arg1 carry(%{{.*}}, %arg0) as [-1, -1] with(%arg1) {{.*}} -> (!graph.tensor<[], i64>, !graph.tensor<[n], f32>, !graph.tensor<[7, n], f32>)
// CHECK:         %[[TAKEN:.*]] = graph.compare lt %{{.*}}, %{{.*}} : <[7], i64>
// CHECK:         graph.compress %[[R]]#2, %[[TAKEN]] axis 0 : {{.*}} -> <[m, n], f32>
func.func @ended(%x: !graph.tensor<[n], f32>, %c: !graph.tensor<[], i1>) -> !graph.tensor<[m, n], f32> {
  %limit = graph.constant dense<7> : tensor<i64> -> !graph.tensor<[], i64>
  %r:2 = graph.while max %limit : !graph.tensor<[], i64> if %c : !graph.tensor<[], i1> carry %x : !graph.tensor<[n], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[n], f32>):
    %next = graph.unary tanh %state : !graph.tensor<[n], f32>
    graph.yield %c, %next, %state : !graph.tensor<[], i1>, !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
  } -> !graph.tensor<[n], f32>, !graph.tensor<[m, n], f32>
  return %r#1 : !graph.tensor<[m, n], f32>
}

// -----

// Sizes that follow the number of the iteration: the loop counts, each iteration binds its number. What does not depend
// on it moves out of the loop. What becomes longer at its end is appended to.
// CHECK-LABEL: func.func @grown
// CHECK:         %[[TWICE:.*]] = graph.binary add %arg0, %arg0
// CHECK:         %[[ZERO:.*]] = graph.constant dense<0>
// CHECK:         %[[R:.*]]:2 = tile.loop @grown_body trips 6 carry(%[[ZERO]], %arg1) as [-1, -1] with(%[[TWICE]])
// CHECK-NEXT:    return %[[R]]#1 : !graph.tensor<[7*n], f32>
// CHECK:       func.func private @grown_body(%[[NUMBER:[a-z0-9]*]]: !graph.tensor<[], i64> {tile.carried = 0 : i64}, %[[STATE:[a-z0-9]*]]: !graph.tensor<[i*n + n], f32>, %[[MORE:.*]]: !graph.tensor<[n], f32>)
// CHECK-NEXT:    tile.opaque [1] ins(%[[NUMBER]]) attributes {binds = "i", bound = #sym.expr<6>}
// CHECK:         %[[NEXT:.*]] = tile.opaque [n ceildiv 8192] ins(%[[STATE]], %[[MORE]]) attributes {appends, updates}
// CHECK:         %[[LATER:.*]] = graph.binary add %[[NUMBER]]
// CHECK:         return %[[LATER]], %[[NEXT]] : !graph.tensor<[], i64>, !graph.tensor<[i*n + 2*n], f32>
// COPIED-LABEL: func.func private @grown_body
// COPIED:         graph.concat
func.func @grown(%x: !graph.tensor<[n], f32>, %h: !graph.tensor<[n], f32>) -> !graph.tensor<[7*n], f32> {
  %limit = graph.constant dense<6> : tensor<i64> -> !graph.tensor<[], i64>
  %r = graph.while max %limit : !graph.tensor<[], i64> carry %h : !graph.tensor<[n], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[n + i*n], f32>):
    %yes = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    %twice = graph.binary add %x, %x : !graph.tensor<[n], f32>
    %next = graph.concat %state, %twice axis 0 : !graph.tensor<[n + i*n], f32>, !graph.tensor<[n], f32>
    graph.yield %yes, %next : !graph.tensor<[], i1>, !graph.tensor<[2*n + i*n], f32>
  } {trip = #sym.expr<i>, trips = #sym.expr<6>} -> !graph.tensor<[7*n], f32>
  return %r : !graph.tensor<[7*n], f32>
}

// -----

// Slices along another axis are taken of what was appended to, in its memory, behind all that reads it.
// CHECK-LABEL: func.func private @chosen_body
// CHECK:         %[[LONGER:.*]] = tile.opaque {{.*}} attributes {appends, updates}
// CHECK:         graph.reduce add
// CHECK:         %[[NEXT:.*]]:2 = tile.opaque {{.*}} ins(%[[LONGER]], %{{.*}}) attributes {appends, updates}
// CHECK:         return %{{.*}}, %[[NEXT]]#0
func.func @chosen(%x: !graph.tensor<[4, 1, 32], f32>, %rows: !graph.tensor<[4], i64>) -> !graph.tensor<[4, 7, 32], f32> {
  %limit = graph.constant dense<6> : tensor<i64> -> !graph.tensor<[], i64>
  %r = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[4, 1, 32], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[4, i + 1, 32], f32>):
    %yes = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    %longer = graph.concat %state, %x axis 1 : !graph.tensor<[4, i + 1, 32], f32>, !graph.tensor<[4, 1, 32], f32>
    %next = graph.gather %longer, %rows axis 0 batch_dims 0 : <[4, i + 2, 32], f32>, <[4], i64>
    %sum = graph.reduce add %longer axes [0, 1, 2] : <[4, i + 2, 32], f32>
    graph.yield %yes, %next : !graph.tensor<[], i1>, !graph.tensor<[4, i + 2, 32], f32>
  } {trip = #sym.expr<i>, trips = #sym.expr<6>} -> !graph.tensor<[4, 7, 32], f32>
  return %r : !graph.tensor<[4, 7, 32], f32>
}

// -----

// Where data end the loop, the number of its iterations is bound behind it.
// CHECK-LABEL: func.func @ended
// CHECK:         %[[R:.*]]:2 = tile.loop @ended_body trips 6 while
// CHECK-NEXT:    tile.opaque [1] ins(%[[R]]#0) attributes {binds = "r", bound = #sym.expr<6>}
// CHECK:         return %[[R]]#1 : !graph.tensor<[n + r], f32>
func.func @ended(%x: !graph.tensor<[n], f32>, %c: !graph.tensor<[], i1>) -> !graph.tensor<[n + r], f32> {
  %limit = graph.constant dense<6> : tensor<i64> -> !graph.tensor<[], i64>
  %r = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[n + i], f32>):
    %one = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[1], f32>
    %next = graph.concat %state, %one axis 0 : !graph.tensor<[n + i], f32>, !graph.tensor<[1], f32>
    graph.yield %c, %next : !graph.tensor<[], i1>, !graph.tensor<[n + i + 1], f32>
  } {trip = #sym.expr<i>, trips = #sym.expr<r>} -> !graph.tensor<[n + r], f32>
  return %r : !graph.tensor<[n + r], f32>
}

// -----

// A size that follows no number is carried, and bound in each iteration and behind the loop. It never grows.
// CHECK-LABEL: func.func @selected
// CHECK:         %[[N:.*]] = graph.sizes [n] scalar
// CHECK:         %[[R:.*]]:3 = tile.loop @selected_body while %{{.*}} carry(%{{.*}}, %[[N]], %arg0)
// CHECK-NEXT:    tile.opaque [1] ins(%[[R]]#1) attributes {binds = "l", bound = #sym.expr<n>}
// CHECK:       func.func private @selected_body(%{{.*}}: !graph.tensor<[], i64> {tile.carried = 0 : i64}, %[[SIZE:[a-z0-9]*]]: !graph.tensor<[], i64> {tile.carried = 1 : i64},
// CHECK-NEXT:    tile.opaque [1] ins(%[[SIZE]]) attributes {binds = "s", bound = #sym.expr<n>}
// CHECK:         %[[KEPT:.*]] = graph.compress
// CHECK:         %[[K:.*]] = graph.sizes [k] scalar
// CHECK:         return %{{.*}}, %{{.*}}, %[[K]], %[[KEPT]]
func.func @selected(%x: !graph.tensor<[n], f32>, %limit: !graph.tensor<[], i64>) -> !graph.tensor<[l], f32> {
  %r = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[s], f32>):
    %yes = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    %isKept = graph.compare lt %state, %state : !graph.tensor<[s], f32>, !graph.tensor<[s], f32>
    %next = graph.compress %state, %isKept axis 0 : !graph.tensor<[s], f32>, !graph.tensor<[s], i1> -> !graph.tensor<[k], f32>
    graph.yield %yes, %next : !graph.tensor<[], i1>, !graph.tensor<[k], f32>
  } -> !graph.tensor<[l], f32>
  return %r : !graph.tensor<[l], f32>
}

// -----

// Both sides of a branch return the sizes that differ.
// CHECK-LABEL: func.func @sizes
// CHECK:         %[[R:.*]]:2 = tile.branch
// CHECK-NEXT:    tile.opaque [1] ins(%[[R]]#1) attributes {binds = "m", bound = #sym.expr<2*n - min(0, n)>}
// CHECK:       func.func private @sizes_body_0
// CHECK:         %[[SIZE:.*]] = graph.sizes [2*n] scalar
// CHECK:         return %{{.*}}, %[[SIZE]] : !graph.tensor<[2*n], f32>, !graph.tensor<[], i64>
func.func @sizes(%x: !graph.tensor<[n], f32>, %c: !graph.tensor<[], i1>) -> !graph.tensor<[m], f32> {
  %r = graph.if %c {
    graph.yield %x : !graph.tensor<[n], f32>
  } else {
    %b = graph.concat %x, %x axis 0 : !graph.tensor<[n], f32>, !graph.tensor<[n], f32>
    graph.yield %b : !graph.tensor<[2*n], f32>
  } : !graph.tensor<[], i1> -> !graph.tensor<[m], f32>
  return %r : !graph.tensor<[m], f32>
}

// -----

// Along another axis than the first, the axis comes first within the loop. Without a limit, the number of the iteration
// tells how much memory what is collected needs.
// CHECK-LABEL: func.func @endless
// CHECK:         %[[FIRST:.*]] = graph.transpose %arg0 [1, 0]
// CHECK:         %[[R:.*]]:3 = tile.loop @endless_body slices i + 2 while %{{.*}} carry(%{{.*}}, %[[FIRST]]) as [-1, -1]
// CHECK:         tile.opaque [1] ins(%[[R]]#0) attributes {binds = "r"}
// CHECK:         %[[LAST:.*]] = graph.transpose %[[R]]#1 [1, 0]
// CHECK:         return %[[LAST]], %[[R]]#2
// CHECK:       func.func private @endless_body(%[[NUMBER:[a-z0-9]*]]: !graph.tensor<[], i64> {tile.carried = 0 : i64}, %[[STATE:.*]]: !graph.tensor<[i + n, 2], f32>
// CHECK-NEXT:    tile.opaque [1] ins(%[[NUMBER]]) attributes {binds = "i"}
// CHECK:         %[[NEXT:.*]] = tile.opaque [1] ins(%[[STATE]], %{{.*}}) attributes {appends, updates}
func.func @endless(%x: !graph.tensor<[2, n], f32>, %e: !graph.tensor<[2, 1], f32>, %limit: !graph.tensor<[], i64>)
    -> (!graph.tensor<[2, n + r], f32>, !graph.tensor<[r, 2, 1], f32>) {
  %r:2 = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[2, n], f32> {
  ^bb0(%number: !graph.tensor<[], i64>, %state: !graph.tensor<[2, n + i], f32>):
    %yes = graph.constant dense<true> : tensor<i1> -> !graph.tensor<[], i1>
    %next = graph.concat %state, %e axis 1 : !graph.tensor<[2, n + i], f32>, !graph.tensor<[2, 1], f32>
    graph.yield %yes, %next, %e : !graph.tensor<[], i1>, !graph.tensor<[2, n + i + 1], f32>, !graph.tensor<[2, 1], f32>
  } {trip = #sym.expr<i>, trips = #sym.expr<r>} -> !graph.tensor<[2, n + r], f32>, !graph.tensor<[r, 2, 1], f32>
  return %r#0, %r#1 : !graph.tensor<[2, n + r], f32>, !graph.tensor<[r, 2, 1], f32>
}

// -----

// What is reversed is gone along from its end; not what a loop has left in one of two slices, nor within a loop.
// CHECK:       tile.counters = {bodies = 3 : i64, reversed = 1 : i64}
// CHECK-LABEL: func.func @backwards
// CHECK-NOT:     graph.slice
// CHECK:         tile.loop @backwards_body trips t carry(%arg1) as [-1] over(%arg0, %arg0) {tile.reversed = array<i64: 1>}
// CHECK-LABEL: func.func @left
// CHECK:         %[[LEFT:.*]] = tile.loop @left_body
// CHECK:         %[[TURNED:.*]] = graph.slice %[[LEFT]]
// CHECK:         tile.loop @left_body_0 trips 4 carry(%arg1) as [-1] over(%[[TURNED]]) :
// PLAIN-LABEL: func.func @backwards
// PLAIN:         %[[COPY:.*]] = graph.slice %arg0
// PLAIN:         tile.loop @backwards_body trips t carry(%arg1) as [-1] over(%arg0, %[[COPY]]) :
func.func @backwards(%x: !graph.tensor<[t, 8], f32>, %h: !graph.tensor<[8], f32>) -> !graph.tensor<[8], f32> {
  %turned = graph.slice %x starts [t - 1, 0] sizes [t, 8] steps [-1, 1] : <[t, 8], f32>
  %last = graph.scan carry %h : !graph.tensor<[8], f32> over %x, %turned : !graph.tensor<[t, 8], f32>, !graph.tensor<[t, 8], f32> {
  ^bb0(%state: !graph.tensor<[8], f32>, %slice: !graph.tensor<[8], f32>, %other: !graph.tensor<[8], f32>):
    %sum = graph.binary add %state, %slice : !graph.tensor<[8], f32>
    %next = graph.binary mul %sum, %other : !graph.tensor<[8], f32>
    graph.yield %next : !graph.tensor<[8], f32>
  } -> !graph.tensor<[8], f32>
  return %last : !graph.tensor<[8], f32>
}
func.func @left(%x: !graph.tensor<[4, 8], f32>, %h: !graph.tensor<[8], f32>, %y: !graph.tensor<[t], f32>) -> !graph.tensor<[8], f32> {
  %left = graph.scan carry %x : !graph.tensor<[4, 8], f32> over %y : !graph.tensor<[t], f32> {
  ^bb0(%state: !graph.tensor<[4, 8], f32>, %slice: !graph.tensor<[], f32>):
    %all = graph.broadcast %slice dims [] : <[], f32> -> <[4, 8], f32>
    %next = graph.binary mul %state, %all : !graph.tensor<[4, 8], f32>
    graph.yield %next : !graph.tensor<[4, 8], f32>
  } -> !graph.tensor<[4, 8], f32>
  %turned = graph.slice %left starts [3, 0] sizes [4, 8] steps [-1, 1] : <[4, 8], f32>
  %last = graph.scan carry %h : !graph.tensor<[8], f32> over %turned : !graph.tensor<[4, 8], f32> {
  ^bb0(%state: !graph.tensor<[8], f32>, %slice: !graph.tensor<[8], f32>):
    %next = graph.binary add %state, %slice : !graph.tensor<[8], f32>
    graph.yield %next : !graph.tensor<[8], f32>
  } -> !graph.tensor<[8], f32>
  return %last : !graph.tensor<[8], f32>
}

// -----

// What is collected of a carried value before each step lies beside the next ones, once, and no step returns it. What maps
// repeat is repeated within the loop, where they read it; what a product reads is not.
// CHECK:       tile.counters = {bodies = 1 : i64, kept_states = 1 : i64}
// CHECK-LABEL: func.func @found
// CHECK-NOT:     graph.broadcast %arg2
// CHECK:         %[[FACTOR:.*]] = graph.broadcast %arg3
// CHECK:         tile.loop @found_body trips t carry(%arg1) as [1] before [0, -1, -1] over(%arg0) with(%{{.*}})
// CHECK:       func.func private @found_body(%[[STATE:[a-z0-9]*]]: !graph.tensor<[n, 8], f32>, %{{.*}}: !graph.tensor<[n, 8], f32>, %[[B:[a-z0-9]*]]: !graph.tensor<[8], f32>, %{{.*}}: !graph.tensor<[8, 8], f32>)
// CHECK:         %[[BIAS:.*]] = graph.broadcast %[[B]]
// CHECK:         graph.binary add %{{.*}}, %[[BIAS]]
// CHECK:         return %[[NEXT:.*]], %[[STATE]] :
// RETURNED-LABEL: func.func @found
// RETURNED:         tile.loop @found_body trips t carry(%arg1) as [1] over
// RETURNED:       func.func private @found_body(%[[STATE:[a-z0-9]*]]: !graph.tensor<[n, 8], f32>
// RETURNED:         return %[[STATE]], %{{.*}}, %[[STATE]] :
func.func @found(%x: !graph.tensor<[t, n, 8], f32>, %h: !graph.tensor<[n, 8], f32>, %b: !graph.tensor<[8], f32>, %w: !graph.tensor<[8], f32>)
    -> (!graph.tensor<[t, n, 8], f32>, !graph.tensor<[t, n, 8], f32>, !graph.tensor<[t, n, 8], f32>) {
  %last, %found, %next, %again = graph.scan carry %h : !graph.tensor<[n, 8], f32> over %x : !graph.tensor<[t, n, 8], f32> {
  ^bb0(%state: !graph.tensor<[n, 8], f32>, %slice: !graph.tensor<[n, 8], f32>):
    %bias = graph.broadcast %b dims [1] : <[8], f32> -> <[n, 8], f32>
    %factor = graph.broadcast %w dims [0] : <[8], f32> -> <[8, 8], f32>
    %product = graph.contract %state, %factor batch [] x [] contract [1] x [0] : !graph.tensor<[n, 8], f32>, !graph.tensor<[8, 8], f32>
    %sum = graph.binary add %product, %slice : !graph.tensor<[n, 8], f32>
    %then = graph.binary add %sum, %bias : !graph.tensor<[n, 8], f32>
    graph.yield %then, %state, %then, %state : !graph.tensor<[n, 8], f32>, !graph.tensor<[n, 8], f32>, !graph.tensor<[n, 8], f32>, !graph.tensor<[n, 8], f32>
  } -> !graph.tensor<[n, 8], f32>, !graph.tensor<[t, n, 8], f32>, !graph.tensor<[t, n, 8], f32>, !graph.tensor<[t, n, 8], f32>
  return %found, %next, %again : !graph.tensor<[t, n, 8], f32>, !graph.tensor<[t, n, 8], f32>, !graph.tensor<[t, n, 8], f32>
}

// -----

// What uses sizes that the body compares stays within, behind that.
// CHECK-LABEL: func.func @compared
// CHECK-NOT:     graph.binary
// CHECK:         tile.loop @compared_body
// CHECK:       func.func private @compared_body
// CHECK:         graph.assert_sizes <n> equals <m> "sizes of a sum"
// CHECK:         graph.binary add
func.func @compared(%x: !graph.tensor<[t, n], f32>, %y: !graph.tensor<[n], f32>, %z: !graph.tensor<[m], f32>) -> !graph.tensor<[t, n], f32> {
  %all = graph.scan over %x : !graph.tensor<[t, n], f32> {
  ^bb0(%slice: !graph.tensor<[n], f32>):
    graph.assert_sizes <n> equals <m> "sizes of a sum"
    %other = graph.reshape %z : !graph.tensor<[m], f32> -> !graph.tensor<[n], f32>
    %sum = graph.binary add %y, %other : !graph.tensor<[n], f32>
    %next = graph.binary mul %sum, %slice : !graph.tensor<[n], f32>
    graph.yield %next : !graph.tensor<[n], f32>
  } -> !graph.tensor<[t, n], f32>
  return %all : !graph.tensor<[t, n], f32>
}

// -----

// What a body does not read is not gone along, and not made: here, the numbers of iterations.
// CHECK-LABEL: func.func @unread
// CHECK-NOT:     graph.iota
// CHECK:         tile.loop @unread_body trips t carry(%arg0) as [-1] over(%arg1) :
// CHECK:       func.func private @unread_body(%{{.*}}: !graph.tensor<[8], f32> {{.*}}, %{{.*}}: !graph.tensor<[8], f32>)
func.func @unread(%h: !graph.tensor<[8], f32>, %x: !graph.tensor<[t, 8], f32>) -> !graph.tensor<[8], f32> {
  %numbers = graph.iota 0 : <[t], i64>
  %last = graph.scan carry %h : !graph.tensor<[8], f32> over %numbers, %x : !graph.tensor<[t], i64>, !graph.tensor<[t, 8], f32> {
  ^bb0(%state: !graph.tensor<[8], f32>, %number: !graph.tensor<[], i64>, %slice: !graph.tensor<[8], f32>):
    %next = graph.binary mul %state, %slice : !graph.tensor<[8], f32>
    graph.yield %next : !graph.tensor<[8], f32>
  } -> !graph.tensor<[8], f32>
  return %last : !graph.tensor<[8], f32>
}
