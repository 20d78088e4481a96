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
