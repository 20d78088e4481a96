// RUN: freestone-opt %s --task-form-phases | FileCheck %s
// RUN: freestone-opt %s --task-form-phases=name-sizes=false | FileCheck %s --check-prefix=UNNAMED

tile.program @p0 symbols [s0, s1](%x: !graph.tensor<[s0, s1], f32>, %w: !graph.tensor<[s1], f32>) -> (!graph.tensor<[s0, s1], f32>)
    attributes {plan = #tile.plan<#tile.map<rows = 8, columns = s1, lanes = 16, vectors = 1>, tiles = s0 ceildiv 8, scratch = 64*s1,
                                   reads = [#sym.expr<8*s1>, unit], writes = [#sym.expr<8*s1>]>} {
  %0 = tile.compute [s0, s1] [parallel, parallel]
       ins(%x : affine_map<(d0, d1) -> (d0, d1)>, %w : affine_map<(d0, d1) -> (d1)>) {
  ^bb0(%a: f32, %b: f32):
    %c0 = arith.constant 0.0 : f32
    %c1 = arith.constant 1.0 : f32
    %low = arith.cmpf oge, %a, %c0 : f32
    tile.check %low, "too low"
    %high = arith.cmpf ole, %a, %c1 : f32
    tile.check %high, "too high"
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : (!graph.tensor<[s0, s1], f32>, !graph.tensor<[s1], f32>) -> !graph.tensor<[s0, s1], f32>
  tile.return %0 : !graph.tensor<[s0, s1], f32>
}

// Sites are numbered through the whole module, call by call.
// CHECK:       module attributes {task.sites = ["node 'first': too low", "node 'first': too high", "nodes 'inner', 'second': too low", "nodes 'inner', 'second': too high"

// Inputs and outputs keep the order of arguments and results; an output is written in place.
// CHECK-LABEL: task.program @main symbols
// CHECK-SAME:    #task.symbol<"b" dim 1, 0 in [1, 64]>
// CHECK-SAME:    #task.symbol<"n" element 0, 1 in [0, 9223372036854775807]>
// CHECK-SAME:    assert [
// CHECK-SAME{LITERAL}: [#sym.expr<b>, #sym.expr<n>, "at node 'first': rows must match: the size b, which must equal n,"]]
// CHECK:         %[[SHAPE:.*]] = task.buffer input "shape" : !graph.tensor<[2], i64>
// CHECK:         %[[X:.*]] = task.buffer input "x" : !graph.tensor<[b, 4], f32>
// CHECK:         %[[W:.*]] = task.buffer weight "w" : !graph.tensor<[4], f32>
// CHECK:         %[[Z:.*]] = task.buffer output "z" : !graph.tensor<[2*b, 2], f32>
// CHECK:         %[[Y:.*]] = task.buffer output "y" : !graph.tensor<[b, 4], f32>
// CHECK:         %[[C:.*]] = task.buffer weight "constant 0" value dense<{{.*}}> : tensor<4xf32> : !graph.tensor<[4], f32>
// CHECK:         task.phase "first" after all [] same [] {
// CHECK:           task.space @p0(%[[X]], %[[W]]) to (%[[Y]]) sizes [b, 4] tiles b ceildiv 8 time {{.*}}b{{.*}} scratch 256 reads [32, ?] writes [32] sites [1, 2]
// CHECK:         task.phase "second" after all [] same [] {
// CHECK:           task.space @p0(%[[Y]], %[[C]]) to (%[[Z]]) sizes [b, 4] tiles b ceildiv 8 time {{.*}}b{{.*}} scratch 256 reads [32, ?] writes [32] sites [3, 4]
func.func @main(%shape: !graph.tensor<[2], i64> {graph.name = "shape"}, %x: !graph.tensor<[b, 4], f32> {graph.name = "x"},
                %w: !graph.tensor<[4], f32> {graph.weight = "w"})
    -> (!graph.tensor<[2*b, 2], f32> {graph.name = "z"}, !graph.tensor<[b, 4], f32> {graph.name = "y"})
    attributes {graph.symbols = {b = #sym.bounds<[1, 64]>}, graph.value_symbols = {n = array<i64: 0, 1>},
                graph.assertions = [[#sym.expr<b>, #sym.expr<n>, "at node 'first': rows must match"]]} {
  %0 = tile.call @p0(%x, %w) [s0 = b, s1 = 4] : (!graph.tensor<[b, 4], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[b, 4], f32> loc("first")
  %1 = graph.reshape %0 : !graph.tensor<[b, 4], f32> -> !graph.tensor<[2*b, 2], f32>
  %2 = graph.reshape %1 : !graph.tensor<[2*b, 2], f32> -> !graph.tensor<[b, 4], f32>
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> !graph.tensor<[4], f32>
  %3 = tile.call @p0(%2, %c) [s0 = b, s1 = 4] : (!graph.tensor<[b, 4], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[b, 4], f32> loc(fused["inner", "second"])
  %4 = graph.reshape %3 : !graph.tensor<[b, 4], f32> -> !graph.tensor<[2*b, 2], f32>
  return %4, %0 : !graph.tensor<[2*b, 2], f32>, !graph.tensor<[b, 4], f32>
}

// Definitions stand beside the symbols that they use; unused ones are dropped.
// CHECK-LABEL: task.program @defined symbols [#task.symbol<"b" dim 0, 0 in [0, 9223372036854775807]>]
// CHECK-SAME{LITERAL}: define [["half", #sym.expr<b floordiv 2>], ["twice", #sym.expr<2*half>]]
func.func @defined(%x: !graph.tensor<[b, 4], f32> {graph.name = "x"}) -> (!graph.tensor<[twice, 4], f32> {graph.name = "y"})
    attributes {graph.definitions = [["half", #sym.expr<b floordiv 2>], ["unused", #sym.expr<half + n>], ["twice", #sym.expr<2*half>]]} {
  %w = graph.weight "v" : !graph.tensor<[4], f32>
  %r = graph.reshape %x : !graph.tensor<[b, 4], f32> -> !graph.tensor<[twice, 4], f32>
  %0 = tile.call @p0(%r, %w) [s0 = twice, s1 = 4] : (!graph.tensor<[twice, 4], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[twice, 4], f32>
  return %0 : !graph.tensor<[twice, 4], f32>
}

// A phase that compares sizes binds the first one to a symbol of its own, which must equal the other one then.
// CHECK-LABEL: task.program @compared symbols [{{.*}}#task.symbol<"%asserted0" runtime 2, 0 in [-9223372036854775808, 9223372036854775807]>]
// CHECK-SAME{LITERAL}: assert [[#sym.expr<"%asserted0">, #sym.expr<2*k>, "at node 'add': the size n, which must equal 2*k,"]]
// CHECK:         task.phase "sizes" after all [] same [] binds "%asserted0"
tile.program @sizes symbols [s0, s1]() -> (!graph.tensor<[2], i64>)
    attributes {plan = #tile.plan<#tile.written_out, tiles = 1, scratch = 0, reads = [], writes = [unit]>} {
  %0 = tile.opaque [1] attributes {asserts = [#sym.expr<s0>, #sym.expr<s1>, ""]} {
  ^bb0(%t: index, %to: memref<?xi64>):
    %a = tile.size s0 : index
    %b = tile.size s1 : index
    tile.yield
  } : () -> !graph.tensor<[2], i64>
  tile.return %0 : !graph.tensor<[2], i64>
}
func.func @compared(%x: !graph.tensor<[n, 4], f32> {graph.name = "x"}, %y: !graph.tensor<[k, 4], f32> {graph.name = "y"}) {
  %0 = tile.call @sizes() [s0 = n, s1 = 2*k] {asserts = [#sym.expr<n>, #sym.expr<2*k>, "at node 'add'"]} : () -> !graph.tensor<[2], i64>
  return
}

// A multiple of a symbol binds it.
// CHECK-LABEL: task.program @multiple symbols [#task.symbol<"units" dim 0, 1 scale 32 in [1, 64]>]
func.func @multiple(%x: !graph.tensor<[4, 32*units], f32> {graph.name = "x"})
    attributes {graph.symbols = {units = #sym.bounds<[1, 64]>}} {
  return
}

// Intermediates are in the arena; equal constants are one weight; a phase without a node's name has its program's.
// CHECK-LABEL: task.program @other
// CHECK:         %[[H:.*]] = task.buffer arena : !graph.tensor<[k, 4], f32>
// CHECK:         task.buffer weight "constant 0"
// CHECK:         task.phase "p0"
// CHECK:           to (%[[H]])
func.func @other(%x: !graph.tensor<[k, 4], f32> {graph.name = "x"}) -> (!graph.tensor<[k, 4], f32> {graph.name = "y"}) {
  %w = graph.weight "w" : !graph.tensor<[4], f32>
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> !graph.tensor<[4], f32>
  %0 = tile.call @p0(%x, %w) [s0 = k, s1 = 4] : (!graph.tensor<[k, 4], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[k, 4], f32>
  %1 = tile.call @p0(%0, %c) [s0 = k, s1 = 4] : (!graph.tensor<[k, 4], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[k, 4], f32>
  return %1 : !graph.tensor<[k, 4], f32>
}

// Old and new value of a state are one buffer.
// CHECK-LABEL: task.program @train
// CHECK:         %[[STATE:.*]] = task.buffer state "fc.weight" initial "start" : !graph.tensor<[2, 4], f32>
// CHECK:         %[[X:.*]] = task.buffer input "x" : !graph.tensor<[4], f32>
// CHECK:         %[[OTHER:.*]] = task.buffer state "other" : !graph.tensor<[2, 4], f32>
// CHECK:         task.phase "p0"
// CHECK:           (%[[STATE]], %[[X]]) to (%[[STATE]])
// CHECK:           (%[[STATE]], %[[X]]) to (%[[OTHER]])
func.func @train(%w: !graph.tensor<[2, 4], f32> {graph.state = "fc.weight", graph.initial = "start"}, %x: !graph.tensor<[4], f32> {graph.name = "x"})
    -> (!graph.tensor<[2, 4], f32> {graph.state = "fc.weight"}, !graph.tensor<[2, 4], f32> {graph.state = "other"}) {
  %0 = tile.call @p0(%w, %x) [s0 = 2, s1 = 4] : (!graph.tensor<[2, 4], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[2, 4], f32>
  %1 = tile.call @p0(%0, %x) [s0 = 2, s1 = 4] : (!graph.tensor<[2, 4], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[2, 4], f32>
  return %0, %1 : !graph.tensor<[2, 4], f32>, !graph.tensor<[2, 4], f32>
}

// A long size has a name, which tiles and what is accessed refer to; equal ones have the same.
// CHECK-LABEL: task.program @named symbols
// CHECK-SAME{LITERAL}: define [["size0", #sym.expr<h*w + 4*h + 4*w - h floordiv 2 - w floordiv 2 + 4>]] {
// CHECK-COUNT-2: sizes [size0, w] tiles size0 ceildiv 8 {{.*}} scratch 64*w reads [8*w, ?] writes [8*w]
// CHECK:         sizes [h*w, 4] tiles (h*w) ceildiv 8
// UNNAMED-LABEL: task.program @named symbols
// UNNAMED-NOT:   define
// UNNAMED:       sizes [h*w + 4*h + 4*w - h floordiv 2 - w floordiv 2 + 4, w] tiles (2*h*w
func.func @named(%x: !graph.tensor<[h, w], f32> {graph.name = "x"},
                 %long: !graph.tensor<[h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, w], f32> {graph.name = "long"},
                 %short: !graph.tensor<[h*w, 4], f32> {graph.name = "short"})
    -> (!graph.tensor<[h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, w], f32> {graph.name = "y"},
        !graph.tensor<[h*w, 4], f32> {graph.name = "z"}) {
  %v = graph.weight "v" : !graph.tensor<[w], f32>
  %u = graph.weight "u" : !graph.tensor<[4], f32>
  %0 = tile.call @p0(%long, %v) [s0 = h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, s1 = w] : (!graph.tensor<[h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, w], f32>, !graph.tensor<[w], f32>) -> !graph.tensor<[h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, w], f32>
  %1 = tile.call @p0(%0, %v) [s0 = h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, s1 = w] : (!graph.tensor<[h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, w], f32>, !graph.tensor<[w], f32>) -> !graph.tensor<[h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, w], f32>
  %2 = tile.call @p0(%short, %u) [s0 = h*w, s1 = 4] : (!graph.tensor<[h*w, 4], f32>, !graph.tensor<[4], f32>) -> !graph.tensor<[h*w, 4], f32>
  return %1, %2 : !graph.tensor<[h*w + 3*h + 3*w + (h + 5) floordiv 2 + (w + 5) floordiv 2, w], f32>, !graph.tensor<[h*w, 4], f32>
}
