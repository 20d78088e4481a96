// RUN: freestone-opt %s --task-form-phases --split-input-file --verify-diagnostics

// expected-error@+1 {{nothing binds the size 'n': no dimension of an input is this size or a multiple of it}}
func.func @main(%x: !graph.tensor<[n + 1], f32> {graph.name = "x"}) {
  return
}

// -----

// expected-error@+1 {{argument 1 has no graph.name, graph.weight or graph.state}}
func.func @main(%x: !graph.tensor<[n], f32> {graph.name = "x"}, %y: !graph.tensor<[n], f32>) {
  return
}

// -----

func.func @main(%x: !graph.tensor<[n], f32> {graph.name = "x"}) -> !graph.tensor<[n], f32> {
  // expected-error@+1 {{is not lowered to a program}}
  %0 = graph.unary exp %x : !graph.tensor<[n], f32>
  return %0 : !graph.tensor<[n], f32>
}

// -----

// expected-error@+1 {{returns state 'w', which is not computed for it alone; run task-update-state}}
func.func @main(%x: !graph.tensor<[4], f32> {graph.name = "x"}) -> (!graph.tensor<[4], f32> {graph.state = "w"}) {
  return %x : !graph.tensor<[4], f32>
}

// -----

tile.program @sevens symbols [s0]() -> (!graph.tensor<[s0], i64>)
    attributes {plan = #tile.plan<#tile.map<rows = 1, columns = 8192, lanes = 16, vectors = 1>, tiles = s0 ceildiv 8192, scratch = 0, reads = [], writes = [#sym.expr<8192>]>} {
  %0 = tile.compute [s0] [parallel] {
    %seven = arith.constant 7 : i64
    tile.yield %seven : i64
  } : () -> !graph.tensor<[s0], i64>
  tile.return %0 : !graph.tensor<[s0], i64>
}
tile.program @bind symbols [](%x: !graph.tensor<[], i64>) -> (!graph.tensor<[1], i64>)
    attributes {plan = #tile.plan<#tile.written_out, tiles = 1, scratch = 0, reads = [unit], writes = [unit]>} {
  %0 = tile.opaque [1] ins(%x) attributes {binds = "k"} {
  ^bb0(%i: index, %from: memref<?xi64>, %to: memref<?xi64>):
    %k = memref.load %from[%i] : memref<?xi64>
    memref.store %k, %to[%i] : memref<?xi64>
    tile.yield
  } : (!graph.tensor<[], i64>) -> !graph.tensor<[1], i64>
  tile.return %0 : !graph.tensor<[1], i64>
}
func.func @main(%x: !graph.tensor<[], i64> {graph.name = "x"}) -> (!graph.tensor<[twice], i64> {graph.name = "y"})
    attributes {graph.definitions = [["twice", #sym.expr<2*k>]]} {
  // expected-error@+1 {{reads size "twice" before "k" is bound}}
  %0 = tile.call @sevens() [s0 = twice] : () -> !graph.tensor<[twice], i64>
  %1 = tile.call @bind(%x) [] {binds = "k"} : (!graph.tensor<[], i64>) -> !graph.tensor<[1], i64>
  return %0 : !graph.tensor<[twice], i64>
}
